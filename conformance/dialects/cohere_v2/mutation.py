"""Mutation of `cohere.v2`: where its events hold what, and operators on blocks and ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from conformance.core.json_values import text_at
from conformance.dialects.cohere_v2.vocabulary import EVENTS
from conformance.editing.edits import ask_otherwise, request_sites, thinking_shown, typed_by
from conformance.editing.operator import Mutation, OperatorTable, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
_CONTENT: Final = ("delta", "message", "content")


_LAYOUT: Final = EVENTS.layout(
    error=lambda message, _code: {
        "type": "message-end",
        "delta": {"finish_reason": "ERROR", "error": message},
    },
    text_keys=("index",),
    named_events=True,
    sentinel="[DONE]",
    reasoning_tokens=(("delta", "usage", "tokens", "reasoning_tokens"),),
)


_starts_of: Final = typed_by("content-start", *_CONTENT, "type")


def _deltas_with(key: str) -> Sites:
    return lambda stream: [
        n for n in stream.typed("content-delta") if stream.text_at(n, *_CONTENT, key)
    ]


def _thinking_switched(stream: Stream) -> Sequence[int]:
    """One place, where blocks of thinking were shown and the request is known."""
    return thinking_shown(stream) if _starts_of("thinking")(stream) else ()


def _as_thinking(content: Any) -> Any:
    """Content of a turn in the history whose text is thinking."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "thinking", "thinking": text_at(b, "text")} if "text" in b else b for b in content
    ]


def _as_text(content: Any) -> Any:
    """Content of a turn in the history whose thinking is text."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "text", "text": text_at(b, "thinking")} if "thinking" in b else b for b in content
    ]


_text_deltas, _thinking_deltas = _deltas_with("text"), _deltas_with("thinking")

OPERATORS.add("H4-text-as-thinking", "What the model said goes back as thinking.")(
    request_sites("messages", "*", "content"),
    ask_otherwise(_as_thinking, "messages", "*", "content"),
)
OPERATORS.add("H4-thinking-as-text", "Thinking goes back as what the model said.")(
    request_sites("messages", "*", "content"), ask_otherwise(_as_text, "messages", "*", "content")
)

MUTATION: Final = Mutation(_LAYOUT, (*OPERATORS, *operator_rows(__file__, globals())))
