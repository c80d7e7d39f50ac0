"""Agent2Agent: the stream of a task (`message/stream`, or `SendStreamingMessage` since 1.0).

Its agents collaborate "without needing to share their internal thoughts, plans, or tool
implementations" (specification, 1.2: Opaque Execution).
"""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.google_a2a.reader import TaskReader

DIALECT: Final = Dialect(
    **facets(__name__, "vocabulary", "requests"),
    reader=TaskReader,
    is_application=True,
    tells_reasons=False,
    is_opaque=True,
    unit="task",
)
