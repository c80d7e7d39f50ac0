"""Keys of Cohere's payloads, and what its events say of where an answer ends."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.cohere_v2.vocabulary import STREAMED
from conformance.dialects.json_edge import mapping
from conformance.dialects.wire_keys import AnswerBounds, SseEnvelope, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("content", "text", "thinking", "tool_plan", "arguments"),
    shown=("content", "text", "thinking", "tool_plan"),
    indices=("index",),
    words=("role", "type", "finish_reason"),
    free=("citations", "sources"),
    unrolled=("tool_calls",),
    unrolling=("cohere.",),
)


def _is_last(payload: Any) -> bool:
    return mapping(payload).get("type") == "message-end"


ENVELOPE: Final = SseEnvelope(is_named=STREAMED.__contains__, finishes=_is_last)
BOUNDS: Final = AnswerBounds(
    first=frozenset({"message-start"}),
    once=frozenset({"message-start"}),
    last=frozenset({"message-end"}),
)
