"""Keys of completions, and what token text says of where an answer ends."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import AnswerBounds, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("text",),
    shown=("text",),
    indices=("index",),
    words=("finish_reason",),
    free=("logprobs",),
    unrolled=("choices",),
    unrolling=("harmony.",),
)
BOUNDS: Final = AnswerBounds(last=frozenset({"harmony.end"}))
