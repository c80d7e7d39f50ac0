"""Keys of Responses payloads, and what their events say of where an answer ends."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import AnswerBounds, ItemPlaces, SseEnvelope, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("delta", "content", "text", "arguments", "refusal", "summary"),
    shown=("delta", "content", "text"),
    indices=("output_index", "content_index", "summary_index"),
    opaque=("encrypted_content",),
    words=("kind", "object", "phase", "reason", "role", "status", "type"),
    free=("arguments", "input", "metadata", "parameters", "properties", "schema"),
)
ENVELOPE: Final = SseEnvelope(is_named=lambda kind: kind.startswith("response."))
BOUNDS: Final = AnswerBounds(
    first=frozenset({"response.created"}),
    once=frozenset({"response.created"}),
    last=frozenset({"response.completed", "response.incomplete", "response.failed"}),
)
ITEMS: Final = ItemPlaces(index="output_index", output=("response", "output"))
