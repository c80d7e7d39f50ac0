"""Converse of Amazon Bedrock: the messages of an event stream, or one whole answer.

Rule 1: text and thinking are not announced: what says something begins a block.
Rule 2: an answer has stopped at `messageStop`, and is done where it is counted, too.
Rule 3: whole answers nest what a stream has flat; their signatures are reported after the block.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .content_blocks import BlockReader, ContentBlock
from .event import Event
from .frame import Frame
from .outcome import error, finish, tokens
from .payload import count_of, decode, object_of, objects_of, text_of
from .wire import Reading

Fields = Mapping[str, Any]
_COUNTS: Final = {"input": "inputTokens", "output": "outputTokens", "total": "totalTokens"}
_HOSTED: Final = "server_tool_use"
_OF_BLOCKS: Final = ("contentBlockStart", "contentBlockDelta", "contentBlockStop")


class ConverseReader(BlockReader):
    """Reads one answer."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._has_stopped = self._is_counted = False

    def read(self, frame: Frame) -> list[Event]:
        """The events of one message."""
        event = object_of(decode(frame.data))
        if frame.raised:
            self._raise(frame.name, event)
        elif frame.name == "messageStart":
            self._begin(event)
        elif frame.name in _OF_BLOCKS:
            self._speech.begin()
            self._block(frame.name, event)
        elif frame.name == "messageStop":
            self._close()
            finish(self._report, event.get("stopReason"))
            self._has_stopped = True
        elif frame.name == "metadata":
            self._count(event)
            self._is_counted = True
        if self._has_stopped and self._is_counted and not self._is_done:
            self._done(explicit=True)
        return self._report.take()

    def body(self, payload: dict[str, Any]) -> list[Event]:
        """The events of a whole answer, or of an error in its place."""
        message = object_of(object_of(payload.get("output")).get("message"))
        if not message:
            said = text_of(payload.get("message")) or text_of(payload.get("Message"))
            fault = payload.get("error") or said
            error(self._report, fault or "neither an answer nor an error")
            return self._report.take()
        self._begin(message)
        for given in objects_of(message.get("content")):
            _whole(self._blocks.whole(), given)
        finish(self._report, payload.get("stopReason"))
        self._count(payload)
        self._done(explicit=False)
        return self._report.take()

    def _begin(self, message: Fields) -> None:
        self._start(message)
        self._has_stopped = self._is_counted = False

    def _block(self, kind: str, event: Fields) -> None:
        index = count_of(event.get("contentBlockIndex"))
        if kind == "contentBlockStart":
            block = self._blocks.begin(index)
            if use := object_of(object_of(event.get("start")).get("toolUse")):
                _call(block, use)
        elif kind == "contentBlockStop":
            self._blocks.stop(index)
        else:
            _add(self._blocks.block(index), object_of(event.get("delta")))

    def _count(self, given: Fields) -> None:
        usage = object_of(given.get("usage"))
        tokens(self._report, {name: usage.get(key) for name, key in _COUNTS.items()})

    def _raise(self, kind: str, fault: Fields) -> None:
        message = text_of(fault.get("message")) or text_of(fault.get("originalMessage"))
        status = fault.get("originalStatusCode")
        error(self._report, {"code": kind, "message": message, "status": status})

    def _has_ended(self) -> bool:
        return self._has_stopped


def _add(block: ContentBlock, delta: Fields) -> None:
    """Tell what a delta adds; it has one member."""
    reasoning = object_of(delta.get("reasoningContent"))
    block.think(text_of(reasoning.get("text")))
    block.seal("redacted", text_of(reasoning.get("redactedContent")))
    block.say(text_of(delta.get("text")))
    block.argue(text_of(object_of(delta.get("toolUse")).get("input")))
    block.seal("signature", text_of(reasoning.get("signature")))


def _whole(block: ContentBlock, given: Fields) -> None:
    reasoning = object_of(given.get("reasoningContent"))
    thought = object_of(reasoning.get("reasoningText"))
    block.think(text_of(thought.get("text")))
    block.say(text_of(given.get("text")))
    if use := object_of(given.get("toolUse")):
        _call(block, use)
    block.stop()
    block.seal("signature", text_of(thought.get("signature")))
    block.seal("redacted", text_of(reasoning.get("redactedContent")))


def _call(block: ContentBlock, use: Fields) -> None:
    named = (text_of(use.get("toolUseId")), text_of(use.get("name")))
    block.call(*named, use.get("input"), hosted=use.get("type") == _HOSTED)
