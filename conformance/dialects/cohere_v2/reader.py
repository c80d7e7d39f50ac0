"""Dialect `cohere.v2`: the events of a Chat stream of Cohere's second API, and whole answers.

Rule 1: an event is its type. A body is `cohere.body`, then `cohere.block` per block of its content
        with its `index`, and `cohere.tool` per call. An error, of any form, is `cohere.error`.
Rule 2: every `message-start` is a message; one of another id, or after the end of a message,
        begins the next answer. Blocks that were open before it end.
Rule 3: `message-end` finishes, counts and is done. Where it says that the generation failed there
        is an error and no finish. A stream without it was cut, `[DONE]` or not.
Rule 4: tokens are those of `usage.tokens`: what is billed is another number.
Rule 5: beyond `MOST_BLOCKS` parts of a message a wire event `cohere.overflow` ends the semantic
        events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.core.events import Frame
from conformance.core.json_values import value_at
from conformance.dialects import outcome
from conformance.dialects.cohere_v2.content import Content
from conformance.dialects.cohere_v2.vocabulary import STREAMED, UNKNOWN
from conformance.dialects.history_calls import OF_CHAT
from conformance.dialects.json_edge import (
    elements,
    event_data,
    mapping,
    string,
    whole_counts,
)
from conformance.dialects.typed import TypedReader

_REASONS: Final = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
}
_FAILURES: Final = frozenset({"ERROR", "TIMEOUT"})
_COUNTS: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "reasoning": "reasoning_tokens",
}
_PARTS: Final[Mapping[str, Callable[[Content, Mapping[str, Any]], None]]] = {
    "content-start": Content.start_block,
    "content-delta": Content.add_content,
    "content-end": Content.end_block,
    "tool-call-start": Content.start_call,
    "tool-call-delta": Content.add_arguments,
    "tool-call-end": Content.end_call,
}


class CohereReader(TypedReader[Content]):
    content_type = Content
    unknown = UNKNOWN
    history = "messages"
    call_pairing = OF_CHAT

    def _read_event(self, frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = string(fields.get("type"))
        if kind not in STREAMED:
            self._read_other(frame, fields, payload)
            return
        if kind == "message-start":
            self._announce(string(fields.get("id")))
        self._sink.wire(kind, fields)
        if self._content.is_over:
            return
        if kind == "tool-plan-delta":
            self._begin_once()
            self._content.plan(string(value_at(fields, "delta", "message", "tool_plan")))
        elif kind in _PARTS:
            self._content.end_plan()
            self._begin_once()
            _PARTS[kind](self._content, fields)
        elif kind == "message-start":
            self._content.renew()
            role = string(value_at(fields, "delta", "message", "role"))
            self._begin(role, string(fields.get("id")))
        elif kind == "message-end":
            self._content.close()
            self._end_message(mapping(fields.get("delta")))
            self._say_done()

    def _read_other(self, frame: Frame, fields: dict[str, Any], payload: Any) -> None:
        is_error = frame.event == "error" or is_failure(fields)
        self._sink.wire("cohere.error" if is_error else self.unknown, event_data(payload))
        if is_error and not self._content.is_over:
            self._content.close()
            self._sink.say_error(outcome.error(fields.get("error") or payload))

    def _read_body(self, payload: Any) -> None:
        fields = mapping(payload)
        self._is_whole = True
        if not isinstance(fields.get("message"), dict):
            self._read_other(Frame("body", "", "", "", 0), fields, payload)
            return
        message = mapping(fields.get("message"))
        self._sink.wire("cohere.body", fields)
        for index, block in enumerate(elements(message.get("content"))):
            self._sink.wire("cohere.block", {"index": index, "content": block})
        for call in elements(message.get("tool_calls")):
            self._sink.wire("cohere.tool", event_data(call))
        self._begin(string(message.get("role")), string(fields.get("id")))
        self._content.whole(message)
        self._end_message(fields)

    def _end_message(self, ending: Mapping[str, Any]) -> None:
        """Rules 3 and 4."""
        reason = string(ending.get("finish_reason"))
        failed = reason in _FAILURES or string(ending.get("error"))
        if reason and not failed:
            self._sink.emit("finish", {"choice": 0, "reason": _REASONS.get(reason, reason)})
        self._sink.say_usage(whole_counts(value_at(ending, "usage", "tokens"), _COUNTS))
        if failed:
            error = {"message": string(ending.get("error")), "code": reason}
            self._sink.say_error(outcome.error(error))


def is_failure(fields: Mapping[str, Any]) -> bool:
    """Whether a payload is an error: it has a message that is a text, or an error."""
    return bool(string(fields.get("message")) or fields.get("error"))


def recognises(_frame: Frame, payload: Any) -> bool:
    """An event of a stream or a whole answer; an error alone names no dialect."""
    fields = mapping(payload)
    is_body = isinstance(fields.get("message"), dict) and "finish_reason" in fields
    return string(fields.get("type")) in STREAMED or is_body
