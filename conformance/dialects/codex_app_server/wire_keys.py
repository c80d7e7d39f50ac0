"""Keys of the notifications of a turn, and which of them begin and end an answer."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import AnswerBounds, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("delta", "text", "summary", "content"),
    shown=("delta", "text", "summary", "content"),
    indices=("itemId", "summaryIndex", "contentIndex"),
    words=("type", "status"),
    free=("arguments", "aggregatedOutput"),
)
BOUNDS: Final = AnswerBounds(
    first=frozenset({"turn/started"}),
    once=frozenset({"turn/started"}),
    last=frozenset({"turn/completed"}),
)
