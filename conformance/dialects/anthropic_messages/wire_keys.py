"""Keys of Messages payloads, and what their events do."""

from __future__ import annotations

from typing import Final

from conformance.dialects.event_table import EventTable
from conformance.dialects.wire_keys import SseEnvelope, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("content", "text", "thinking", "partial_json"),
    shown=("content", "text", "thinking"),
    indices=("index",),
    opaque=("signature",),
    words=("role", "stop_reason", "type"),
    free=("input", "metadata"),
)
EVENTS: Final = EventTable(
    openings=("message_start",),
    starts=("content_block_start",),
    words={
        "thinking_delta": {"thinking": ("delta", "thinking")},
        "text_delta": {"text": ("delta", "text")},
        "input_json_delta": {"arguments": ("delta", "partial_json")},
    },
    delta_type=("delta", "type"),
    text_ends={"content_block_delta": "content_block_stop"},
    ends=("content_block_stop", "message_delta"),
    finishes=("message_stop",),
)
OF_MESSAGE: Final = EVENTS.types
ENVELOPE: Final = SseEnvelope(is_named=(OF_MESSAGE | {"error", "ping"}).__contains__)
BOUNDS: Final = EVENTS.bounds()
