"""Agent2Agent: the stream of a task (`message/stream`, or `SendStreamingMessage` since 1.0).

Its agents collaborate "without needing to share their internal thoughts, plans, or tool
implementations" (specification, 1.2: Opaque Execution).
"""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.google_a2a.reader import TaskReader, recognises
from conformance.dialects.google_a2a.requests import REQUEST, TURNS
from conformance.dialects.google_a2a.vocabulary import NAME, VOCABULARY, WIRE_KEYS

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=TaskReader,
    recognises=recognises,
    keys=WIRE_KEYS,
    request=REQUEST,
    turns=TURNS,
    is_application=True,
    tells_reasons=False,
    is_opaque=True,
    unit="task",
)
