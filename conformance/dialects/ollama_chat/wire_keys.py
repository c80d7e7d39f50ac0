"""Keys of the payloads of Ollama's chat."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("content", "thinking"),
    shown=("content", "thinking"),
    words=("role", "done_reason"),
    free=("arguments", "options", "format", "details"),
    unrolled=("tool_calls", "models"),
    unrolling=("ollama.", "models"),
)
