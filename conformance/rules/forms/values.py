"""Form `values`: a field is constant, distinct, contiguous from a start, rising or never falling.

Null is not a value: an event without a value is ignored. At an event of `skips` a contiguous value
may be more than one above the last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, Self

from msgspec import Struct, field

from conformance.core.events import Event
from conformance.core.excerpts import beginning
from conformance.rules.about import About, BreachKind, fields_held
from conformance.rules.alias import Alias
from conformance.rules.forms.base import (
    FIRED,
    OPEN,
    Act,
    Breach,
    CapReachedError,
    Form,
    Machine,
    Mark,
    Names,
    Report,
    Slice,
    State,
    Step,
    listed,
)
from conformance.rules.forms.differences import view
from conformance.rules.forms.reading import FormReader, chosen
from conformance.rules.node import Node
from conformance.rules.paths import MISSING, getter
from conformance.rules.patterns import PatternError, constant, is_number, same, token
from conformance.rules.repetition import Columns, Stretch, is_related

MOST_VALUES: Final = 65_536
_VALUE: Final = {"not": [None, {"absent": True}]}

Are = Literal["constant", "distinct", "contiguous", "rising", "not_falling"]
ARE: Final[tuple[Are, ...]] = ("constant", "distinct", "contiguous", "rising", "not_falling")


class Values(Form, frozen=True):
    """`of` maps an event name to the path of its field; `skips` are event names."""

    key: ClassVar[str] = "values"
    of: Mapping[str, str]
    are: Are
    start: Any = None
    skips: frozenset[str] = frozenset()

    @classmethod
    def read(cls, reader: FormReader, rule: Node, node: Node) -> Self:
        del rule
        entries = node.mapping({"of", "path", "are", "start", "skips"})
        of, path = node.required("of"), entries.get("path")
        if path is None and of.kind != "mapping":
            raise node.error("key 'path' is missing")
        are = chosen(node.required("are"), ARE)
        if are != "contiguous" and (given := {"start", "skips"} & entries.keys()):
            key = min(given)
            raise node.key(key).error(f"only contiguous values have `{key}`")
        skips = frozenset(reader.named_events(entries.get("skips")))
        return cls(reader.event_paths(of, path), are, _read_start(entries.get("start")), skips)

    def lack(self, events: Mapping[str, str]) -> str:
        values = "no value" if self.start is not None else "fewer than two values"
        return (
            f"{values} of {', '.join(sorted(set(self.of.values())))} in {listed(events, self.of)}"
        )

    @property
    def looked_at(self) -> Mapping[str, str]:
        return self.of

    def knob_values(self) -> Sequence[Any]:
        return (self.start,)

    def paths(self) -> Iterator[tuple[str, str]]:
        yield from self.of.items()

    def machine(
        self, aliases: Mapping[str, Alias], knobs: Mapping[str, Any], *, sliced: bool
    ) -> Machine:
        start = constant(self.start, knobs)
        if start is not None and not is_number(start):
            raise PatternError(f"contiguous values start with a number, not {start!r}")
        return ValuesMachine(aliases, self, start, sliced=sliced)


def _read_start(node: Node | None) -> Any:
    """Where a contiguous series begins: a number or a `$knob`."""
    if node is None:
        return None
    return node.string() if str(node.value).startswith("$") else node.number()


class ValueSeries(Struct):
    """The values of one slice so far."""

    last: Any = MISSING
    first_marks: dict[bytes, Mark] = field(default_factory=dict)


class ValuesMachine(Machine):
    """The values themselves are the business of its acts."""

    def __init__(
        self, aliases: Mapping[str, Alias], form: Values, start: Any, *, sliced: bool
    ) -> None:
        super().__init__(aliases, sliced=sliced)
        self.form = form
        self.start = start

    def needs(self, name: str) -> tuple[str, Any] | None:
        path = self.form.of.get(name)
        return None if path is None else (path, _VALUE)

    def memory(self) -> ValueSeries:
        return ValueSeries()

    def step(self, state: State, names: Names) -> Step:
        name = min(names & self.form.of.keys(), default=None)
        if name is None:
            return state, ()
        judge = _TakeSkipping if names & self.form.skips else _JUDGES[self.form.are]
        return state, (judge(self, name, is_first=state is OPEN),)


class _TakeValue(Act):
    """Compares a value with those before it, and keeps it."""

    def __init__(self, machine: ValuesMachine, name: str, *, is_first: bool) -> None:
        self.machine = machine
        self.path = machine.form.of[name]
        self.get = getter(self.path)
        self.is_first = is_first

    def perform(self, slice_: Slice, event: Event) -> Report:
        series = slice_.memory[self.machine.position]
        value, last = self.get(event.data), series.last
        wanted = self.wanted(series, value, event)
        series.last = value
        if wanted is not None:
            return self._value_breach(slice_, event, value, wanted)
        # One value alone cannot differ from another: only a stated start tests it.
        if self.is_first and (last is not MISSING or self.machine.start is not None):
            return FIRED
        return None

    def wanted(self, series: ValueSeries, value: Any, event: Event) -> str | None:
        """What should have come instead, or None where the value is right."""
        raise NotImplementedError

    def _value_breach(self, slice_: Slice, event: Event, value: Any, wanted: str) -> Breach:
        after = slice_.last_mark(self.machine.position)
        # A long value is clipped with its path, as the message has both.
        path, _, got = beginning(f"{self.path}={view(value)}", 300, "").partition("=")
        trail = f" (after {after})" if after else ""
        message = f"{path} of {event.type}: expected {wanted}, got {got}{trail}"
        form, kinds = self.machine.form, self.machine.types(self.machine.form.of)
        kind = BreachKind.NUMBER if form.are == "contiguous" else BreachKind.FIELD
        is_hole = wanted.isdecimal() and is_number(value) and value > int(wanted)
        lacks = kinds if kind is BreachKind.NUMBER and len(kinds) == 1 and is_hole else ()
        about = About(kind, event.type, lacks, kinds, fields_held({self.path: value}))
        return Breach(message, (wanted,), got, after, about=about)

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        del slice_, event
        return not self.is_first and not is_related(self.path, columns)


class _TakeConstant(_TakeValue):
    def perform(self, slice_: Slice, event: Event) -> Report:
        # Nearly always it is the same text again.
        value = self.get(event.data)
        known = slice_.memory[self.machine.position].last
        if value.__class__ is str and value == known and not self.is_first:
            return None
        return super().perform(slice_, event)

    def wanted(self, series: ValueSeries, value: Any, event: Event) -> str | None:
        del event
        last = series.last
        if last is MISSING or last is value or same(last, value):
            return None
        return view(last)


class _TakeDistinct(_TakeValue):
    def wanted(self, series: ValueSeries, value: Any, event: Event) -> str | None:
        known = hashlib.blake2b(token(value).encode("utf-8", "replace")).digest()
        if known in series.first_marks:
            return f"a value not used by {series.first_marks[known]}"
        if len(series.first_marks) >= MOST_VALUES:
            raise CapReachedError(f"more than {MOST_VALUES} distinct values")
        series.first_marks[known] = Mark(event.type, event.number)
        return None

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        del slice_, event, columns
        return False  # the value comes again


class _TakeNumber(_TakeValue):
    """Numbers of which each follows from the one before; a column of them is taken at once."""

    def wanted(self, series: ValueSeries, value: Any, event: Event) -> str | None:
        del event
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "a number"
        return self.wanted_number(series.last, value)

    def wanted_number(self, last: Any, value: float) -> str | None:
        raise NotImplementedError

    def follows(self, last: int, values: Any) -> bool:
        raise NotImplementedError

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        del slice_, event
        return not self.is_first and self.path in columns

    def fits(self, slice_: Slice, stretch: Stretch) -> bool:
        last = slice_.memory[self.machine.position].last
        return isinstance(last, int) and self.follows(last, stretch.columns[self.path])

    def extend(self, slice_: Slice, stretch: Stretch) -> None:
        slice_.memory[self.machine.position].last = stretch.columns[self.path][-1]


class _TakeContiguous(_TakeNumber):
    def wanted_number(self, last: Any, value: float) -> str | None:
        wanted = self.machine.start if last is MISSING else last + 1
        return None if wanted is None or value == wanted else str(wanted)

    def follows(self, last: int, values: Any) -> bool:
        return bool(values[0] == last + 1) and values.counts_on


class _TakeSkipping(_TakeContiguous):
    def wanted_number(self, last: Any, value: float) -> str | None:
        wanted = self.machine.start if last is MISSING else last + 1
        return None if wanted is None or value >= wanted else f"{wanted} or more"

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        del slice_, event, columns
        return False  # such events are rare


class _TakeRising(_TakeNumber):
    def wanted_number(self, last: Any, value: float) -> str | None:
        return None if last is MISSING or value > last else f"above {last}"

    def follows(self, last: int, values: Any) -> bool:
        return bool(values[0] > last) and values.rises


class _TakeNotFalling(_TakeRising):
    def wanted_number(self, last: Any, value: float) -> str | None:
        return None if last is MISSING or value >= last else f"{last} or more"


_JUDGES: Final[Mapping[Are, type[_TakeValue]]] = {
    "constant": _TakeConstant,
    "distinct": _TakeDistinct,
    "contiguous": _TakeContiguous,
    "rising": _TakeRising,
    "not_falling": _TakeNotFalling,
}
