"""Keys of Converse payloads, and what its events say of where an answer ends."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import AnswerBounds, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("content", "text", "input"),
    shown=("content", "text"),
    indices=("contentBlockIndex",),
    opaque=("signature", "redactedContent"),
    words=("role", "stopReason"),
    free=("input", "additionalModelRequestFields", "additionalModelResponseFields"),
)
BOUNDS: Final = AnswerBounds(
    first=frozenset({"messageStart"}),
    once=frozenset({"messageStart"}),
    last=frozenset({"metadata"}),
)
