"""Every operator, by family, and how to find one."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Final

from msgspec.structs import replace

from conformance.core.errors import UsageError
from conformance.dialects import SUPPORTED
from conformance.editing.operator import FAMILIES, Operator
from conformance.mutate.chunks import CHUNKS
from conformance.mutate.endings import ENDINGS
from conformance.mutate.events import EVENTS
from conformance.mutate.framing import FRAMING
from conformance.mutate.lost_texts import LOST_TEXTS
from conformance.mutate.markers import MARKERS
from conformance.mutate.sent_calls import SENT_CALLS
from conformance.mutate.stream import mutation_of
from conformance.mutate.texts import TEXTS
from conformance.rules.node import nearest


def _sort_key(operator: Operator) -> tuple[int, int, str]:
    """By family, number and name, wherever an operator is written."""
    digits = re.match(r"[A-Z](\d+)", operator.name)
    number = int(digits[1]) if digits else 0
    return [*FAMILIES].index(operator.family), number, operator.name


OPERATORS: Final[tuple[Operator, ...]] = tuple(
    sorted(
        (
            *(*FRAMING, *MARKERS, *EVENTS, *CHUNKS, *TEXTS, *LOST_TEXTS, *ENDINGS, *SENT_CALLS),
            *(
                replace(operator, dialect=name)
                for name in SUPPORTED
                for operator in mutation_of(name).operators
            ),
        ),
        key=_sort_key,
    )
)


def find_operators(glob: str) -> tuple[Operator, ...]:
    """Operators whose name fits. Raises UsageError where none does."""
    found = tuple(each for each in OPERATORS if fnmatchcase(each.name, glob))
    if not found:
        names = [each.name for each in OPERATORS]
        raise UsageError(f"no operator fits {glob!r}", hint=nearest(glob, names))
    return found
