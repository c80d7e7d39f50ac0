"""Keys of the Interactions API's payloads, and what its events say of where an answer ends."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.gemini_interactions.vocabulary import EVENTS
from conformance.dialects.json_edge import mapping
from conformance.dialects.wire_keys import SseEnvelope, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("text", "arguments", "result"),
    shown=("text",),
    indices=("index",),
    opaque=("signature", "continuation_token"),
    words=("event_type", "type", "status", "object", "modality", "service_tier"),
    free=("arguments", "result", "parameters", "generation_config"),
    unrolled=("steps",),
    unrolling=("interaction",),
)


def _is_last(payload: Any) -> bool:
    return mapping(payload).get("event_type") == "interaction.completed"


ENVELOPE: Final = SseEnvelope(is_named=EVENTS.types.__contains__, finishes=_is_last)
BOUNDS: Final = EVENTS.bounds()
