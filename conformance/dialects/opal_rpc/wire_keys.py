"""Keys of the events of the agent, and which of them begin and end an answer."""

from __future__ import annotations

from typing import Final

from conformance.dialects.wire_keys import AnswerBounds, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("delta",),
    shown=("delta",),
    words=("type",),
    free=("args", "result"),
)
BOUNDS: Final = AnswerBounds(
    first=frozenset({"agent_start"}),
    once=frozenset({"agent_start"}),
    last=frozenset({"agent_end", "agent_abort", "error"}),
)
