"""Dialect `claude.stream-json`: what Claude Code writes with `--output-format stream-json`.

Rule 1: a line is a wire event of its `type`, with the payload as it stands; a type that is not
        known is `line.unknown`, which is no error.
Rule 2: a `stream_event` is the event of Messages that it wraps, with `api_message_id` next to its
        own fields: every message has an id, and several messages are one answer. Those of a
        subagent give wire events alone: what it says is not shown as the answer.
Rule 3: a line `assistant` states blocks: `assistant.block` each, with the id of the message and, of
        a message that came as events, the index of the block. Such a block is not said again.
        Where the events do not name their message, the next line says what lines call it.
        A line `user` brings results: `user.block` each. A call, under the id that its events have
        where it came as events, and its result share `tool_use_id`.
Rule 4: a call of the model is a step. The answer is finished, counted and done with `result`,
        which also says that it failed; without it the stream was cut. A session is announced anew,
        by a line of subtype `init`, for every answer.
Rule 5: an error of the API that Claude Code words as an `assistant` line is no text of a model.
Rule 6: Qwen Code, which announces its version, numbers every block 0 and states it under another
        id than its message has. Its blocks are numbered here as they come; a start has its number
        on the wire as `own_index`. The line after the events of a block states it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.core.events import Frame, Vocabulary
from conformance.dialects.anthropic_messages.content import OVERFLOW
from conformance.dialects.anthropic_messages.reader import MessagesReader
from conformance.dialects.anthropic_messages.wire_keys import OF_MESSAGE
from conformance.dialects.base import Reading
from conformance.dialects.content_blocks import MOST_BLOCKS
from conformance.dialects.json_edge import (
    elements,
    event_data,
    mapping,
    objects,
    string,
    whole,
)

NAME: Final = "claude.stream-json"
LINES: Final = frozenset({"system", "stream_event", "assistant", "user", "result"})
VOCABULARY: Final = Vocabulary(
    NAME,
    (LINES - {"stream_event"})
    | OF_MESSAGE
    | {"ping", "error", "assistant.block", "user.block", "line.unknown"}
    | {"request", "request.item", OVERFLOW},
)
_UNNAMED: Final = "message "  # and a number: of a message whose events have no id
_NAMES: Final = frozenset({"uuid", "session_id"})
_OWN: Final = frozenset({"session_id", "message"})
_FAILURES: Final = ("is_api_error_message", "isApiErrorMessage")


class StreamJsonReader(MessagesReader):
    unknown = "line.unknown"
    is_of_api = False
    is_of_lines = True

    def __init__(self, reading: Reading) -> None:
        self._session = ""  # as it was announced
        self._is_by_block = False  # rule 6
        super().__init__(reading)

    def _renew(self) -> None:
        super()._renew()
        self._steps = 0
        self._in_step = False
        self._message_id = ""  # of the message that was said last, by events or by lines
        self._streamed_id = ""  # of the message that was begun last by events
        self._starts = 0  # of messages, by events
        self._stated_id = ""  # of that message, by lines, where its events do not name it
        self._index = -1  # of its block that began last
        self._own_index = 0  # the number of that block on the wire, where they are numbered here
        self._begun_calls: dict[int, str] = {}  # ids of its calls, by the index of their block

    def _read_event(self, frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = string(fields.get("type"))
        if kind == "stream_event":
            self._unwrap_event(frame, fields)
            return
        if kind == "system" and fields.get("subtype") == "init":
            self._announce("", has_spoken=self._has_begun)
            self._session = string(fields.get("session_id"))
            self._is_by_block = isinstance(fields.get("qwen_code_version"), str)
        self._sink.wire(kind if kind in LINES else self.unknown, event_data(payload))
        if kind == "assistant":
            self._read_assistant(fields)
        elif kind == "user":
            self._read_results(mapping(fields.get("message")))
        elif kind == "result" and not self._content.is_over:
            self._read_result(fields)

    def _unwrap_event(self, frame: Frame, line: dict[str, Any]) -> None:
        event, parent = mapping(line.get("event")), string(line.get("parent_tool_use_id"))
        started = string(mapping(event.get("message")).get("id"))
        begun = self._message_id
        if event.get("type") == "message_start":
            self._starts += 1
            begun = f"{_UNNAMED}{self._starts}"
        message_id = string(line.get("api_message_id")) or parent or started or begun
        session = line.get("session_id")
        astray = {} if session == self._session or not self._session else {"astray": True}
        unnamed = {} if line.keys() >= _NAMES else {"unnamed": True}
        whose = {"parent_tool_use_id": parent} if parent else {}
        own = {**event, "api_message_id": message_id, **whose, **astray, **unnamed}
        if parent or event.get("type") == "error":  # it is tried again after an error
            self._sink.wire(string(event.get("type")) or self.unknown, own)
            return
        self._message_id = message_id
        if self._is_by_block and "index" in event:
            own |= self._numbered(event)
        if event.get("type") == "content_block_start":
            self._begin_block(whole(own.get("index")) or 0, mapping(event.get("content_block")))
        super()._read_event(frame, own)

    def _numbered(self, event: dict[str, Any]) -> dict[str, Any]:
        """The number of a block among those of its message; of a start also that on the wire."""
        index = event.get("index")
        if not isinstance(index, int):
            return {}
        number = self._index + 1
        if event.get("type") != "content_block_start":
            return {"index": self._index + index - self._own_index}
        self._own_index = index
        return {"index": number, "own_index": index}

    def _begin_block(self, index: int, block: dict[str, Any]) -> None:
        self._index = index
        if len(self._begun_calls) < MOST_BLOCKS:
            self._begun_calls[index] = string(block.get("id"))

    def _announce_message(self, message: dict[str, Any]) -> None:
        """A message is a step of an answer, and begins none (rule 4)."""

    def _read_message(self, kind: str, fields: dict[str, Any]) -> None:
        if kind == "message_start":
            self._streamed_id, self._stated_id, self._index = self._message_id, "", -1
            self._begun_calls.clear()
            self._begin_step(mapping(fields.get("message")))
        elif kind == "message_stop":
            self._end_step()

    def _read_assistant(self, line: dict[str, Any]) -> None:
        message = mapping(line.get("message"))
        if any(line.get(key) is True for key in _FAILURES):
            return
        blocks = elements(message.get("content"))
        message_id, parent = string(message.get("id")), line.get("parent_tool_use_id")
        is_known = message_id == self._streamed_id != ""
        if self._streamed_id.startswith(_UNNAMED) and not isinstance(parent, str):
            self._stated_id = self._stated_id or message_id
            is_known = message_id == self._stated_id
        if is_known or (self._is_by_block and self._index >= 0):
            is_known, message_id = True, self._streamed_id
        first = self._index + 1 - len(blocks)
        for place, block in enumerate(blocks, first):
            whose = {"parent_tool_use_id": parent} if isinstance(parent, str) else {}
            number = {"index": place} if is_known and place >= 0 else {}
            begun = self._begun_calls.get(place, "") if is_known else ""
            called = begun or string(mapping(block).get("id"))
            call = {"tool_use_id": called} if called else {}
            own = {**whose, **number, **call}
            stated = {"api_message_id": message_id, **own, "content_block": block}
            self._sink.wire("assistant.block", stated)
        if is_known or isinstance(parent, str) or self._content.is_over:
            return
        if message_id != self._message_id or not self._in_step:
            self._message_id = message_id
            self._begin_step(message)
        self._content.whole(blocks)

    def _read_results(self, message: dict[str, Any]) -> None:
        for block in objects(message.get("content")):
            call = block.get("tool_use_id")
            whose = {"tool_use_id": call} if isinstance(call, str) else {}
            self._sink.wire("user.block", {**whose, "content_block": block})

    def _read_result(self, fields: dict[str, Any]) -> None:
        self._end_step()
        self._is_done = True
        if fields.get("is_error") is True:
            code = string(fields.get("api_error_type")) or string(fields.get("subtype"))
            error = {"code": code, "message": string(fields.get("result"))}
            self._sink.say_error({"choice": 0, **error})
            return
        self._say_finish(fields.get("stop_reason"))
        self._count_tokens(fields.get("usage"))
        self._sink.emit("done", {"choice": 0, "explicit": True})

    def _begin_message(self, message: dict[str, Any]) -> None:
        """The first message begins the answer; an unannounced message is a step too."""
        if not self._has_begun:
            super()._begin_message(message)
        if not self._in_step:
            self._in_step = True
            self._sink.emit("step.start", {"choice": 0, "step": self._steps})

    def _begin_step(self, message: dict[str, Any]) -> None:
        self._end_step()
        self._is_done = False
        self._content.renew()
        self._begin_message(message)

    def _end_step(self) -> None:
        self._content.close()
        if self._in_step:
            self._sink.emit("step.end", {"choice": 0, "step": self._steps})
            self._steps += 1
            self._in_step = False


def recognises(_frame: Frame, payload: Any) -> bool:
    """A wrapped event, a message with its session, the beginning of a session, or its result."""
    fields = mapping(payload)
    kind = string(fields.get("type"))
    if kind == "stream_event":
        return isinstance(mapping(fields.get("event")).get("type"), str)
    if kind in ("assistant", "user"):
        return isinstance(fields.get("message"), dict) and "session_id" in fields
    if kind == "result":
        return isinstance(fields.get("is_error"), bool)
    return kind == "system" and isinstance(fields.get("subtype"), str)


def doubts(payloads: Sequence[Mapping[str, Any]]) -> str | None:
    """Other agents call their lines alike; those of Claude Code are of a session, with messages."""
    kinds = {string(each.get("type")) for each in payloads}
    if kinds.isdisjoint(("assistant", "user")) or any(
        not _OWN.isdisjoint(each) for each in payloads
    ):
        return None
    return "no line of it holds a session_id or a message"
