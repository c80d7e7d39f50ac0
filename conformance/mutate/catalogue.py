"""Every operator, by family, and how to find one."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

from conformance.core.errors import UsageError
from conformance.mutate.asked import ASKED
from conformance.mutate.boundary import BOUNDARY
from conformance.mutate.chat_lifecycle import CHAT_LIFECYCLE
from conformance.mutate.endings import ENDINGS
from conformance.mutate.framing import FRAMING
from conformance.mutate.indices import INDICES
from conformance.mutate.lifecycle import LIFECYCLE
from conformance.mutate.messages import BLOCKS
from conformance.mutate.naming import NAMING
from conformance.mutate.opaque import OPAQUE
from conformance.mutate.operator import Operator
from conformance.mutate.outcome import OUTCOME
from conformance.mutate.tools import TOOLS
from conformance.rules.node import nearest

OPERATORS: Final[tuple[Operator, ...]] = (
    *FRAMING,
    *BOUNDARY,
    *LIFECYCLE,
    *CHAT_LIFECYCLE,
    *BLOCKS,
    *INDICES,
    *OPAQUE,
    *OUTCOME,
    *NAMING,
    *TOOLS,
    *ENDINGS,
    *ASKED,
)


def named(glob: str) -> tuple[Operator, ...]:
    """Operators whose name fits. Raises UsageError where none does."""
    found = tuple(each for each in OPERATORS if fnmatchcase(each.name, glob))
    if not found:
        names = [each.name for each in OPERATORS]
        raise UsageError(f"no operator fits {glob!r}", hint=nearest(glob, names))
    return found
