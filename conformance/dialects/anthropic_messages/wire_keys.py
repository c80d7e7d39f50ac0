"""Keys of Messages payloads, and what their events say of where an answer ends."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import AnswerBounds, SseEnvelope, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("content", "text", "thinking", "partial_json"),
    shown=("content", "text", "thinking"),
    indices=("index",),
    opaque=("signature",),
    words=("role", "stop_reason", "type"),
    free=("input", "metadata"),
)
_NAMED: Final = frozenset(
    {
        "content_block_delta",
        "content_block_start",
        "content_block_stop",
        "error",
        "message_delta",
        "message_start",
        "message_stop",
        "ping",
    }
)
ENVELOPE: Final = SseEnvelope(is_named=_NAMED.__contains__)
BOUNDS: Final = AnswerBounds(
    first=frozenset({"message_start"}),
    once=frozenset({"message_start"}),
    last=frozenset({"message_stop"}),
)
