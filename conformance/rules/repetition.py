"""Events that repeat: equal in every field except a few columns, as a model's deltas are.

A `Stretch` represents many events of one type that differ in their columns only. An act is
*still* for such an event if reading more of them changes only what it collects; it may then
`extend` itself by the whole stretch at once, provided that the stretch `fits`: nothing in it would
be a violation. If an act is not still, or a stretch does not fit, the events are read one by one,
which defines the outcome.

A column must not decide either whether a name of a rule holds for an event. `is_steady` proves this
from the pattern: a column holds a non-empty string, or an integer, and no more is known.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Event
from conformance.rules.patterns import fields_named, is_of_exchange, knob

# Keywords that do not look into the values of a mapping or list that holds a column.
_SHALLOW: Final = frozenset(
    {"type", "required", "minProperties", "maxProperties", "minItems", "maxItems"}
)
_CONDITION: Final = ("if", "then", "else")
_CHOICE: Final = ("anyOf", "oneOf")
_DEEP: Final = frozenset({"properties", "allOf", *_CHOICE, *_CONDITION})

Columns = tuple[str, ...]


class Column(list[Any]):
    """The values of one field, event by event.

    What many rules ask of it is worked out once, and all get the same object.
    """

    @cached_property
    def joined(self) -> str:
        return "".join(self)

    @cached_property
    def lengths(self) -> array[int]:
        """How many characters each text has."""
        return array("I", map(len, self))

    @cached_property
    def longest(self) -> int:
        """How many characters its longest text has."""
        return max(self.lengths, default=0)

    @cached_property
    def counts_on(self) -> bool:
        """Whether each number is one more than the one before."""
        first = self[0]
        return isinstance(first, int) and self == list(range(first, first + len(self)))

    @cached_property
    def rises(self) -> bool:
        """Whether each number is above the one before."""
        return all(isinstance(v, int) for v in self) and all(a < b for a, b in pairwise(self))


class Stretch(Struct, frozen=True):
    """Events of frames `first` to `last`, one each; `event` is one of them.

    `columns` maps a path of the event to its values, frame by frame. `times` are pairs of the last
    frame of a chunk and the chunk's time in milliseconds, in order; empty without a clock.
    """

    event: Event
    first: int
    last: int
    columns: Mapping[str, Column]
    times: Sequence[tuple[int, float]] = ()

    @property
    def count(self) -> int:
        return self.last - self.first + 1


class Repeated(Struct, frozen=True):
    """An event that comes again and again, alike in all but its columns.

    Those in `alike` hold the same text in each of these events.
    """

    event: Event
    columns: Columns
    alike: Columns = ()


@lru_cache(maxsize=4096)
def is_related(path: str, columns: Columns) -> bool:
    """Whether a path leads to a column, or to something that holds one or is inside one."""
    segments = path.split(".")
    return any(all(map(_can_meet, segments, column.split("."))) for column in columns)


def _can_meet(one: str, other: str) -> bool:
    """Whether two segments may lead to one place: `*` leads everywhere, `00` where `0` does."""
    if one == other or "*" in (one, other):
        return True
    return one.isdecimal() and other.isdecimal() and int(one) == int(other)


def is_steady(path: str, pattern: Any, again: Repeated, knobs: Mapping[str, Any]) -> bool:
    """Whether the pattern gives the same answer at `path` for any values of the columns."""
    columns = again.columns
    if isinstance(pattern, str) and pattern.startswith("$") and not pattern.startswith("$$"):
        if is_of_exchange(pattern):
            return not is_related(path, columns)
        return is_steady(path, knob(pattern, knobs), again, knobs)
    if isinstance(pattern, list | tuple):
        return all(is_steady(path, each, again, knobs) for each in pattern)
    if isinstance(pattern, Mapping):
        return _steady_map(path, pattern, again, knobs)
    if not is_related(path, columns):
        return True
    # A column is never null, a truth value, a fraction or empty; it may be any other text, and any
    # whole number.
    return pattern is None or pattern == "" or isinstance(pattern, bool)


def _steady_map(
    path: str, pattern: Mapping[str, Any], again: Repeated, knobs: Mapping[str, Any]
) -> bool:
    columns = again.columns
    if set(pattern) == {"absent"}:
        return True
    if set(pattern) == {"not"}:
        return is_steady(path, pattern["not"], again, knobs)
    if set(pattern) in ({"field"}, {"sum"}):
        named = (path, *fields_named(pattern))
        if set(pattern) == {"field"} and set(named) <= set(again.alike):
            return True
        return not any(is_related(each, columns) for each in named)
    if set(pattern) == {"above"}:
        bound = pattern["above"]
        other = str(bound["field"]) if isinstance(bound, Mapping) else ""
        return not is_related(path, columns) and not (other and is_related(other, columns))
    return not is_related(path, columns) or is_blind(pattern, path, columns)


def is_blind(schema: Any, path: str, columns: Columns) -> bool:
    """Whether a JSON Schema for the value at `path` gives the same answer for all columns."""
    return column_schemas(schema, path, columns) == ()


def column_schemas(
    schema: Any, path: str, columns: Columns
) -> tuple[tuple[str, Mapping[str, Any]], ...] | None:
    """The parts of a JSON Schema for the value at `path` that constrain the columns, one by one.

    Paths of columns with the schemas of their values; None if the schema depends on more than that.
    """
    if not isinstance(schema, Mapping):
        return () if isinstance(schema, bool) else None
    if path and not is_related(path, columns):
        return ()
    if path in columns:
        is_free = set(schema) <= {"type", "minLength"} and schema.get("minLength", 0) <= 1
        return () if is_free else ((path, schema),)
    if not set(schema) <= _SHALLOW | _DEEP or not _is_condition_blind(schema, path, columns):
        return None
    inner = [
        (f"{path}.{name}".lstrip("."), each) for name, each in schema.get("properties", {}).items()
    ]
    inner += [(path, each) for each in schema.get("allOf", ())]
    found: list[tuple[str, Mapping[str, Any]]] = []
    for below, each in inner:
        parts = column_schemas(each, below, columns)
        if parts is None:
            return None
        found += parts
    return tuple(found)


def _is_condition_blind(schema: Mapping[str, Any], path: str, columns: Columns) -> bool:
    """Whether neither a condition, what follows from it, nor a choice depends on a column."""
    branches = [schema[keyword] for keyword in _CONDITION if keyword in schema]
    branches += [each for keyword in _CHOICE for each in schema.get(keyword, ())]
    return all(is_blind(each, path, columns) for each in branches)
