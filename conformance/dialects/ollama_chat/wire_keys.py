"""Keys of Ollama's payloads, and what its lines say of where an answer ends."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import AnswerBounds, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("content", "thinking"),
    shown=("content", "thinking"),
    words=("role", "done_reason"),
    free=("arguments", "options", "format", "details"),
    unrolled=("tool_calls", "models"),
    unrolling=("ollama.", "models"),
)
BOUNDS: Final = AnswerBounds(first=frozenset({"ollama.chunk"}), last=frozenset({"ollama.last"}))
