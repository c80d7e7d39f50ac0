"""Form `timing`: no gap above `largest_gap`, an event `within` so much time, no `burst`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Final, Self

from msgspec import Struct

from conformance.core.events import Event
from conformance.rules.alias import Alias
from conformance.rules.forms.base import (
    FIRED,
    OPEN,
    Act,
    Breach,
    Form,
    Machine,
    Mark,
    Names,
    Report,
    ReportAct,
    Slice,
    State,
    Step,
    listed,
)
from conformance.rules.forms.reading import FormReader
from conformance.rules.forms.timing_bursts import BurstMachine
from conformance.rules.node import Node
from conformance.rules.repetition import Columns, Stretch

_HEAD: Final = Mark("http.response", 0)
_MEASURES: Final = frozenset({"largest_gap", "within", "burst"})


class Timing(Form, frozen=True):
    """Milliseconds. `largest_gap` between events, or one of them `within` so many after `start`.

    `from_head`: the first gap is that since the response head. `burst` is how many events may come
    in one instant on average where the rest of the time was spent waiting.
    """

    key: ClassVar[str] = "timing"
    events: tuple[str, ...]
    largest_gap: float | None = None
    start: tuple[str, ...] = ()
    within: float | None = None
    from_head: bool = False
    burst: int | None = None

    @classmethod
    def read(cls, reader: FormReader, rule: Node, node: Node) -> Self:
        del rule
        entries = node.mapping({"of", "start", "from_head", *_MEASURES})
        if len(entries.keys() & _MEASURES) != 1:
            raise node.error("timing has either largest_gap, within or burst")
        gap, within = entries.get("largest_gap"), entries.get("within")
        return cls(
            reader.named_events(node.required("of")),
            largest_gap=gap.number() if gap else None,
            start=reader.named_events(entries.get("start")),
            within=within.number() if within else None,
            from_head="from_head" in entries and entries["from_head"].boolean(),
            burst=entries["burst"].integer() if "burst" in entries else None,
        )

    def lack(self, events: Mapping[str, str]) -> str:
        return f"no {listed(events, self.events)} with a time to measure from"

    def machine(
        self, aliases: Mapping[str, Alias], knobs: Mapping[str, Any], *, sliced: bool
    ) -> Machine:
        del knobs
        if self.burst is not None:
            return BurstMachine(aliases, self.burst, sliced=sliced)
        return TimingMachine(aliases, self, sliced=sliced)


class Clock(Struct):
    """When the time that is measured began; None while it does not run."""

    ms: float | None = None
    mark: Mark | None = None


class TimingMachine(Machine):
    """Its acts look at the times; without a clock it gets no event."""

    needs_clock = True

    def __init__(self, aliases: Mapping[str, Alias], form: Timing, *, sliced: bool) -> None:
        super().__init__(aliases, sliced=sliced)
        self.form = form
        self._owes_from_head = form.within is not None and not form.start
        self._runs_from_head = self._owes_from_head or form.from_head

    def begins(self) -> State | None:
        return OPEN if self._owes_from_head and not self.sliced else None

    def memory(self) -> Clock:
        return Clock(0.0, _HEAD) if self._runs_from_head else Clock()

    def step(self, state: State, names: Names) -> Step:
        return state, (_MeasureTime(self, names, is_first=state is OPEN),)

    def close(self, state: State) -> tuple[Act, ...]:
        del state
        return () if self.form.within is None else (ReportAct(partial(_never_came, self)),)


def _never_came(machine: TimingMachine, slice_: Slice, event: Event) -> Report:
    del event
    clock = slice_.memory[machine.position]
    if clock.ms is None:
        return None
    expected = machine.describe(machine.form.events)
    message = f"none of {', '.join(expected)} came in time"
    return Breach(message, expected, "end of stream", clock.mark, owed=True)


class _MeasureTime(Act):
    """Measures the time since the clock began, and starts it anew."""

    def __init__(self, machine: TimingMachine, names: Names, *, is_first: bool) -> None:
        self.machine = machine
        self.form = machine.form
        self.is_first = is_first
        self._measures = not names.isdisjoint(self.form.events)
        self._starts = self.form.largest_gap is not None or not names.isdisjoint(self.form.start)

    def perform(self, slice_: Slice, event: Event) -> Report:
        clock, ms = slice_.memory[self.machine.position], slice_.context.ms
        assert ms is not None  # the machine needs it
        report: Report = None
        if self._measures and clock.ms is not None:
            report = self._judge_time(clock, event, ms - clock.ms)
        if self._starts:
            clock.ms, clock.mark = ms, Mark(event.type, event.number)
        return report

    def _judge_time(self, clock: Clock, event: Event, elapsed: float) -> Report:
        most = self.form.largest_gap if self.form.within is None else self.form.within
        assert most is not None
        if elapsed > most:
            message = f"{event.type} came {elapsed:.0f} ms after {clock.mark}, at most {most:.0f}"
            within = (f"within {most:.0f} ms",)
            return Breach(message, within, f"{elapsed:.0f} ms", clock.mark)
        if self.form.within is not None:
            clock.ms = None
        return FIRED if self.is_first else None

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        del slice_, event, columns
        gap_only = self.form.largest_gap is not None and not self.form.start
        return gap_only and not self.is_first

    def fits(self, slice_: Slice, stretch: Stretch) -> bool:
        most, before = self.form.largest_gap, slice_.memory[self.machine.position].ms
        times = [ms for _, ms in stretch.times]
        assert most is not None
        return before is not None and all(b - a <= most for a, b in pairwise([before, *times]))

    def extend(self, slice_: Slice, stretch: Stretch) -> None:
        if stretch.times:
            mark = Mark(stretch.event.type, stretch.last)
            clock = slice_.memory[self.machine.position]
            clock.ms, clock.mark = stretch.times[-1][1], mark
