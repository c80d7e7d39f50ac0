"""Dialect `anthropic.messages`: the Messages API, streamed or whole.

Rule 1: an event is a wire event of its payload's `type`, with the payload as it stands; a body is
        `message`, then `message.block` per content element, shaped like `content_block_start`:
        `index` and `content_block`. Unknown types of events, blocks and deltas are no error: the
        API says that it may add some.
Rule 2: every `message_start` is a message. One of another id, or after the end of a message,
        begins the next answer. Blocks that were open before it end.
Rule 3: `done` is explicit at `message_stop`; a stream without it was cut, whatever else it said.
Rule 4: counts of tokens are cumulative: usage repeats what was stated before and not since.
Rule 5: beyond `MOST_BLOCKS` blocks of a message a wire event `anthropic.messages.overflow` ends the
        semantic events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.core.events import Frame
from conformance.dialects import outcome
from conformance.dialects.anthropic_messages.content import OVERFLOW, Content
from conformance.dialects.anthropic_messages.wire_keys import OF_MESSAGE
from conformance.dialects.history import vocabulary
from conformance.dialects.history_calls import OF_MESSAGES
from conformance.dialects.json_edge import elements, event_data, mapping, string, whole
from conformance.dialects.typed import TypedReader

NAME: Final = "anthropic.messages"

VOCABULARY: Final = vocabulary(
    NAME,
    *OF_MESSAGE,
    *("ping", "request.call", "request.result", "request.before", "message", "message.block"),
    *("message.unknown", "error", OVERFLOW),
)

_OF_A_MESSAGE: Final = ("type", "content", "usage")
_REASONS: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}


class MessagesReader(TypedReader[Content]):
    content_type = Content
    unknown = "message.unknown"
    history = "messages"
    call_pairing = OF_MESSAGES

    def _renew(self) -> None:
        super()._renew()
        self._usage: dict[str, int] = {}

    def _read_event(self, frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = string(fields.get("type"))
        if not kind:
            is_error = frame.event == "error" or "error" in fields
            kind = "error" if is_error else self.unknown
        if kind == "message_start":
            self._announce_message(mapping(fields.get("message")))
        self._sink.wire(kind, event_data(payload))
        content = self._content
        if content.is_over:
            return
        if kind == "content_block_delta" and self._has_begun:
            content.delta(fields)
        elif kind.startswith("content_block_"):
            self._read_block(kind, fields)
        elif kind == "error":
            self._sink.say_error(outcome.error(fields.get("error") or payload))
        else:
            self._read_message(kind, fields)

    def _announce_message(self, message: dict[str, Any]) -> None:
        self._announce(string(message.get("id")), has_spoken=self._content.has_blocks)

    def _read_block(self, kind: str, fields: dict[str, Any]) -> None:
        if kind == "content_block_stop":
            self._content.stop(fields)
            return
        if not self._has_begun:
            self._begin_message({})
        if kind == "content_block_delta":
            self._content.delta(fields)
        elif kind == "content_block_start":
            self._content.start(fields)

    def _read_message(self, kind: str, fields: dict[str, Any]) -> None:
        if kind == "message_start":
            message = mapping(fields.get("message"))
            self._content.renew()
            self._begin_message(message)
            self._content.whole(elements(message.get("content")))
            self._count_tokens(message.get("usage"))
        elif kind == "message_delta":
            self._say_finish(mapping(fields.get("delta")).get("stop_reason"))
            self._count_tokens(fields.get("usage"))
        elif kind == "message_stop":
            self._content.close()
            self._say_done()

    def _read_body(self, payload: Any) -> None:
        fields = mapping(payload)
        self._is_whole = True
        if not isinstance(fields.get("content"), list):
            is_error = fields.get("type") == "error" or bool(fields.get("error"))
            self._sink.wire("error" if is_error else self.unknown, event_data(payload))
            if is_error:
                self._sink.say_error(outcome.error(fields.get("error") or payload))
            return
        content = elements(fields.get("content"))
        self._sink.wire("message", fields)
        for index, block in enumerate(content):
            self._sink.wire("message.block", {"index": index, "content_block": block})
        self._begin_message(fields)
        self._content.whole(content)
        self._say_finish(fields.get("stop_reason"))
        self._count_tokens(fields.get("usage"))

    def _begin_message(self, message: dict[str, Any]) -> None:
        self._usage = {}
        self._begin(string(message.get("role")), string(message.get("id")))

    def _say_finish(self, stop_reason: Any) -> None:
        if reason := string(stop_reason):
            self._sink.end_choice(_REASONS.get(reason, reason))

    def _count_tokens(self, usage: Any) -> None:
        """Rule 4; counts that are missing or not whole numbers are left out."""
        if not isinstance(usage, dict):
            return
        details = mapping(usage.get("output_tokens_details"))
        counts = {
            "input": whole(usage.get("input_tokens")),
            "output": whole(usage.get("output_tokens")),
            "reasoning": whole(details.get("thinking_tokens")),
        }
        self._usage |= {name: count for name, count in counts.items() if count is not None}
        self._sink.emit("usage", {"choice": 0, **self._usage})


def recognises(_frame: Frame, payload: Any) -> bool:
    """An event of a message or a message; an `error` or a `ping` alone names no dialect."""
    fields = mapping(payload)
    kind = string(fields.get("type"))
    if kind == "message_start" and mapping(fields.get("message")).get("role") == "user":
        return False  # agents tell so of both sides
    is_message = kind == "message" and isinstance(fields.get("content"), list)
    return kind in OF_MESSAGE or (is_message and "stop_reason" in fields)


def doubts(payloads: Sequence[Mapping[str, Any]]) -> str | None:
    """Others have events of these names: their opening is no message, and no reason is stated."""
    openings = [
        mapping(each.get("message")) for each in payloads if each.get("type") == "message_start"
    ]
    is_message = any(key in each for each in openings for key in _OF_A_MESSAGE)
    has_reason = any(each.get("type") == "message_delta" for each in payloads)
    if not openings or is_message or has_reason:
        return None
    return "its message_start holds no type, content or usage, and no message_delta comes"
