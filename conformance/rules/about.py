"""What a breach is about, as data next to its message: findings are put together by this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final, Self

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.excerpts import beginning
from conformance.rules.paths import MISSING

_LONGEST: Final = 60  # characters of a value that a field holds


class BreachKind(StrEnum):
    """How a rule is broken."""

    OTHER = "other"
    ORDER = "order"  # an event did not come, or another one came in its place
    LATE = "late"  # an event came after one that nothing of the kind may follow
    EVENT = "event"  # an event, or a frame, that may not come at all
    FIELD = "field"  # a field holds another value than it should
    UNREAD_FIELD = "unread field"  # it holds nothing that a reader could take
    NUMBER = "number"  # the numbers of events do not count on
    TEXTS = "texts"  # a text is not what its pieces say together
    MARKED = "marked"  # a text holds what may not be in it
    REPEATED = "repeated"  # a text came before


class Change(StrEnum):
    """How a text or value became another one."""

    NONE = ""
    LOST = "lost"
    CUT = "cut"
    LONGER = "longer"
    BEGINNING = "begins otherwise"
    OTHER = "differs"

    @classmethod
    def of(cls, had: str, has: str, at: int) -> Self:
        """The change between two texts that differ from the character `at` on."""
        if not has:
            return cls("lost")
        if at == len(has):
            return cls("cut")
        if at == len(had):
            return cls("longer")
        return cls("differs" if at else "begins otherwise")


class About(Struct, frozen=True):
    """What a breach is about.

    `type` is that of the event that is wrong; empty where it is only that one never came. `lacks`
    are types of events of which one did not come, `beside` those that the rule compares, counts or
    forbids. `fields` are fields looked at with what they hold, None where one is not there.
    `behind` is the event that it came after: its type and number. `opens`: the text begins with it.
    `inferred` are fields that the wrong event leaves out, and that its reader knows all the same.
    """

    kind: BreachKind = BreachKind.OTHER
    type: str = ""
    lacks: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    fields: tuple[tuple[str, str | None], ...] = ()
    behind: tuple[str, int] | None = None
    change: Change = Change.NONE
    opens: bool = False
    inferred: tuple[str, ...] = ()

    def cleaned(self, clean: Callable[[str], str]) -> Self:
        """The same, with what the fields hold passed through `clean`."""
        fields = tuple((path, value and clean(value)) for path, value in self.fields)
        return replace(self, fields=fields)


NOTHING: Final = About()


def fields_held(fields: Mapping[str, Any]) -> tuple[tuple[str, str | None], ...]:
    """Fields by path, with what they hold as slices spell it."""
    return tuple(
        (path, None if value is MISSING else beginning(str(value), _LONGEST, ""))
        for path, value in fields.items()
    )
