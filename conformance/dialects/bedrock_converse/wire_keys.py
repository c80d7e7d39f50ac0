"""Keys of Converse payloads, and what its events say of where an answer ends."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("content", "text", "input"),
    shown=("content", "text"),
    indices=("contentBlockIndex",),
    opaque=("signature", "redactedContent"),
    words=("role", "stopReason"),
    free=("input", "additionalModelRequestFields", "additionalModelResponseFields"),
)
