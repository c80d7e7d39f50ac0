"""Keys of Cohere's payloads, and what its events say of where an answer ends."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.cohere_v2.vocabulary import EVENTS
from conformance.dialects.json_edge import mapping
from conformance.dialects.wire_keys import SseEnvelope, WireKeys

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


ENVELOPE: Final = SseEnvelope(is_named=EVENTS.types.__contains__, finishes=_is_last)
BOUNDS: Final = EVENTS.bounds()
