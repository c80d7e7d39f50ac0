"""Keys of the lines of `codex exec`, and which of them begin and end an answer."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import AnswerBounds, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("text",),
    shown=("text",),
    words=("type", "status"),
    free=("arguments", "aggregated_output"),
)
BOUNDS: Final = AnswerBounds(
    first=frozenset({"turn.started"}),
    once=frozenset({"turn.started"}),
    last=frozenset({"turn.completed", "turn.failed"}),
)
