"""Keys of the Gemini API's payloads, by what stands under them."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("text",),
    shown=("text",),
    indices=("index",),
    opaque=("thoughtSignature", "thought_signature"),
    words=("role", "finishReason", "blockReason", "modality", "serviceTier"),
    free=("args", "functionResponse", "generationConfig"),
    unrolled=("candidates", "parts"),
    unrolling=("gemini.",),
)
