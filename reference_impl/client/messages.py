"""Anthropic Messages: the typed events of a stream, or one whole message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from . import messages_block
from .content_blocks import ContentBlocks
from .event import Event
from .frame import Frame
from .outcome import error, finish, usage
from .payload import count_of, decode, object_of, objects_of, text_of
from .wire import AnswerReader, Reading

Fields = Mapping[str, Any]


class MessagesReader(AnswerReader):
    """Reads one message. It is done at `message_stop`; what nobody knows is skipped."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._blocks = ContentBlocks(self._report, self._speech)
        self._counts: dict[str, Any] = {}

    def read(self, frame: Frame) -> list[Event]:
        """The events of one wire event."""
        event = object_of(decode(frame.data))
        kind = text_of(event.get("type"))
        if kind == "message_start":
            self._start(object_of(event.get("message")))
        elif kind in _IN_MESSAGE:
            self._speech.begin()
            self._block(kind, event)
        elif kind == "message_delta":
            finish(self._report, object_of(event.get("delta")).get("stop_reason"))
            self._usage(event.get("usage"))
        elif kind == "message_stop":
            self._close()
            self._done(explicit=True)
        elif event.get("error") and kind in ("", "error"):
            error(self._report, event["error"])
        return self._report.take()

    def body(self, payload: dict[str, Any]) -> list[Event]:
        """The events of a whole message, or of an error in its place."""
        if payload.get("error"):
            error(self._report, payload["error"])
        elif payload.get("type") == "message":
            self._speech.meet(text_of(payload.get("id")))
            self._speech.begin(text_of(payload.get("role")))
            self._content(payload)
            finish(self._report, payload.get("stop_reason"))
            usage(self._report, payload.get("usage"))
        else:
            error(self._report, "neither a message nor an error")
        self._done(explicit=False)
        return self._report.take()

    def _start(self, message: Fields) -> None:
        self._blocks.renew()
        self._speech.again()
        self._is_done = False
        self._speech.meet(text_of(message.get("id")))
        self._speech.begin(text_of(message.get("role")))
        self._content(message)
        self._counts = {}
        self._usage(message.get("usage"))

    def _usage(self, given: Any) -> None:
        """Tell the counts so far: what a later event does not repeat still holds."""
        if isinstance(given, dict):
            self._counts = {**self._counts, **given}
            usage(self._report, self._counts)

    def _content(self, message: Fields) -> None:
        for given in objects_of(message.get("content")):
            messages_block.whole(self._blocks.whole(), given)

    def _block(self, kind: str, event: Fields) -> None:
        index = count_of(event.get("index"))
        if kind == "content_block_start":
            messages_block.start(self._blocks.begin(index), object_of(event.get("content_block")))
        elif kind == "content_block_stop":
            self._blocks.stop(index)
        else:
            messages_block.delta(self._blocks.block(index), object_of(event.get("delta")))

    def _close(self) -> None:
        self._blocks.close()


_IN_MESSAGE: Final = frozenset({"content_block_start", "content_block_delta", "content_block_stop"})
