"""Timing with `burst`: events come as they are made, not many at once after a long wait.

Rule 1: an *instant* is a run of events, each at most TOGETHER milliseconds after the one before.
Rule 2: a *wait* is a time of SHORTEST_WAIT without an event, also since the response head.
Rule 3: events come in bursts where there are so many more of them than instants, at least two
        bursts' worth in all, and nearly all of the time was spent waiting, which took LONGEST_WAIT.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from conformance.core.events import Event
from conformance.rules.alias import Alias
from conformance.rules.forms.base import (
    FIRED,
    Act,
    Breach,
    Machine,
    Names,
    Report,
    ReportAct,
    Slice,
    State,
    Step,
)
from conformance.rules.repetition import Columns, Stretch

TOGETHER: Final = 10.0
SHORTEST_WAIT: Final = 500.0
LONGEST_WAIT: Final = 2000.0
_NEARLY_ALL: Final = 0.9


class Arrivals(Struct):
    """How many events came in how many instants, and how long was waited for them."""

    events: int = 0
    instants: int = 0
    waited: float = 0.0
    last: float = 0.0
    number: int = 0

    def add(self, count: int, ms: float, number: int) -> None:
        """Takes events that came at once."""
        gap = ms - self.last
        if gap > TOGETHER or not self.events:
            self.instants += 1
        if gap >= SHORTEST_WAIT:
            self.waited += gap
        self.events += count
        self.last, self.number = ms, number


class BurstMachine(Machine):
    """Reports events that came in bursts, at the end."""

    needs_clock = True

    def __init__(self, aliases: Mapping[str, Alias], burst: int, *, sliced: bool) -> None:
        super().__init__(aliases, sliced=sliced)
        self.burst = burst

    def memory(self) -> Arrivals:
        return Arrivals()

    def step(self, state: State, names: Names) -> Step:
        del names
        return state, (_NoteArrival(self),)

    def close(self, state: State) -> tuple[Act, ...]:
        del state
        return (ReportAct(self._burst_report),)

    def _burst_report(self, slice_: Slice, event: Event) -> Report:
        del event
        came: Arrivals = slice_.memory[self.position]
        if came.events < 2 * self.burst:
            return None
        is_many = came.events >= self.burst * came.instants
        if not is_many or came.waited < max(LONGEST_WAIT, _NEARLY_ALL * came.last):
            return FIRED
        message = (
            f"{came.events} deltas came in {came.instants} bursts,"
            f" and {came.waited:.0f} of {came.last:.0f} ms were spent waiting"
        )
        got = f"{came.instants} bursts"
        return Breach(message, ("deltas as they are made",), got, number=came.number)


class _NoteArrival(Act):
    """Only counts: whether there were enough events is known at the end, so all can be a run."""

    def __init__(self, machine: BurstMachine) -> None:
        self.machine = machine

    def perform(self, slice_: Slice, event: Event) -> None:
        came: Arrivals = slice_.memory[self.machine.position]
        ms = slice_.context.ms
        assert ms is not None  # the machine needs it
        came.add(1, ms, event.number)

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        del slice_, event, columns
        return True

    def extend(self, slice_: Slice, stretch: Stretch) -> None:
        came: Arrivals = slice_.memory[self.machine.position]
        before = stretch.first - 1
        for last, ms in stretch.times:
            came.add(last - before, ms, last)
            before = last
