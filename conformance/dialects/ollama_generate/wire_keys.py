"""Keys of the payloads of Ollama's completions."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("response", "thinking"),
    shown=("response", "thinking"),
    words=("done_reason",),
    free=("options", "format", "details", "context"),
    unrolled=("models",),
    unrolling=("ollama.", "models"),
)
