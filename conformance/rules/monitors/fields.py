"""Forms about fields of single events and clocks: `values`, `each`, `timing`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from typing import Any, Final

from conformance.core.events import Ending, Event
from conformance.rules.model import Rule, Timing, Values
from conformance.rules.monitors.base import (
    CapReachedError,
    Context,
    Key,
    Mark,
    Monitor,
    State,
)
from conformance.rules.monitors.differences import view
from conformance.rules.paths import MISSING, getter
from conformance.rules.patterns import same, token
from conformance.rules.repetition import Stretch, is_related

MOST_VALUES: Final = 65_536


class Series(State):
    """The values of one slice so far."""

    __slots__ = ("count", "last", "mark", "seen")

    def __init__(self) -> None:
        super().__init__()
        self.last: Any = MISSING
        self.mark: Mark | None = None
        self.count = 0
        self.seen: dict[bytes, Mark] = {}


class ValuesMonitor(Monitor[Series]):
    """A field is constant, distinct, contiguous from a start, or rising; null is no value."""

    def __init__(self, rule: Rule, context: Context, form: Values, start: Any) -> None:
        super().__init__(rule, context)
        self.form = form
        self.start = start
        self._paths = {name: getter(path) for name, path in form.paths.items()}

    def state(self, key: Key) -> Series:  # noqa: ARG002  # the same for every key
        return Series()

    def step(self, event: Event, names: frozenset[str]) -> None:
        name = min(names)
        value = self._paths[name](event.data)
        if value is MISSING or value is None:
            return
        for key, series in self.reached(event):
            wanted = self._judge(series, value, event)
            if wanted is not None:
                self._differs(key, series, event, f"{self.form.paths[name]}={view(value)}", wanted)
            series.last, series.mark = value, Mark(event.type, event.number)
            series.count += 1
            # One value alone cannot differ from another: only a stated start tests it.
            series.fired = series.fired or series.count > 1 or self._starts(series)

    def still(self, event: Event, names: frozenset[str], columns: Collection[str]) -> bool:
        name = min(names)
        path = self.form.paths[name]
        if path in columns:
            return self.form.are in ("contiguous", "rising")
        value = self._paths[name](event.data)
        steady = value is MISSING or value is None or self.form.are == "constant"
        return steady and not is_related(path, columns)

    def fits(self, stretch: Stretch, names: frozenset[str]) -> bool:
        path = self.form.paths[min(names)]
        if path not in stretch.columns:
            return True
        return all(self._goes_on(s, stretch, path) for _, s in self.peeked(stretch.event))

    def _goes_on(self, series: Series, stretch: Stretch, path: str) -> bool:
        if not isinstance(series.last, int):
            return False
        first = stretch.columns[path][0]
        if self.form.are == "contiguous":
            return bool(first == series.last + 1) and stretch.columns[path].counts_on
        return stretch.columns[path].rises and bool(first > series.last)

    def extend(self, stretch: Stretch, names: frozenset[str]) -> None:
        name = min(names)
        values = stretch.columns.get(self.form.paths[name])
        value = self._paths[name](stretch.event.data) if values is None else values[-1]
        if value is MISSING or value is None:
            return
        for _, series in self.peeked(stretch.event):
            series.last, series.mark = value, Mark(stretch.event.type, stretch.last)
            series.count += stretch.count
            series.fired = True

    def _starts(self, series: Series) -> bool:
        return self.form.are == "contiguous" and self.start is not None and series.count > 0

    def _judge(self, series: Series, value: Any, event: Event) -> str | None:
        """What was wanted instead, or None where the value is right."""
        if self.form.are == "distinct":
            return self._repeats(series, value, event)
        if self.form.are == "constant":
            steady = series.last is MISSING or same(series.last, value)
            return None if steady else view(series.last)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "a number"
        if self.form.are == "rising":
            return None if series.last is MISSING or value > series.last else f"above {series.last}"
        return self._gap(series, value)

    def _gap(self, series: Series, value: float) -> str | None:
        wanted = self.start if series.last is MISSING else series.last + 1
        return None if wanted is None or value == wanted else str(wanted)

    def _repeats(self, series: Series, value: Any, event: Event) -> str | None:
        known = hashlib.blake2b(token(value).encode("utf-8", "replace")).digest()
        if known in series.seen:
            return f"a value not used by {series.seen[known]}"
        if len(series.seen) >= MOST_VALUES:
            raise CapReachedError(f"more than {MOST_VALUES} distinct values")
        series.seen[known] = Mark(event.type, event.number)
        return None

    def _differs(self, key: Key, series: Series, event: Event, came: str, wanted: str) -> None:
        path, _, got = came[:300].partition("=")
        trail = f" (after {series.mark})" if series.mark else ""
        message = f"{path} of {event.type}: expected {wanted}, got {got}{trail}"
        self.violate(key, event.number, message, expected=(wanted,), got=got, after=series.mark)


class EachMonitor(Monitor[State]):
    """Every such event satisfies a JSON Schema."""

    def __init__(
        self,
        rule: Rule,
        context: Context,
        validator: Any,
        blind: Callable[[tuple[str, ...]], bool],
    ) -> None:
        super().__init__(rule, context)
        self.validator = validator
        self._blind = blind  # whether the schema leaves these columns alone

    def state(self, key: Key) -> State:  # noqa: ARG002  # the same for every key
        return State()

    def still(self, event: Event, names: frozenset[str], columns: Collection[str]) -> bool:  # noqa: ARG002  # one question
        return self._blind(tuple(columns))

    def step(self, event: Event, names: frozenset[str]) -> None:  # noqa: ARG002  # one question
        for key, state in self.reached(event):
            state.fired = True
            if self.validator.is_valid(event.data):
                continue
            error = next(iter(self.validator.iter_errors(event.data)))
            path = ".".join(str(part) for part in error.instance_path) or "payload"
            what = str(error.message)[:300]
            message = f"{path} of {event.type}: {what}"
            self.violate(key, event.number, message, expected=(_wanted(error),), got=what)


def _wanted(error: Any) -> str:
    keyword = str(error.schema_path[-1]) if error.schema_path else "schema"
    return f"{'.'.join(map(str, error.schema_path))}" if keyword.isdecimal() else keyword


class Clock(State):
    """Times of one slice, in milliseconds."""

    __slots__ = ("mark", "ms")

    def __init__(self) -> None:
        super().__init__()
        self.ms: float | None = None
        self.mark: Mark | None = None


class TimingMonitor(Monitor[Clock]):
    """No gap above `largest_gap`, or an event `within` milliseconds of the start."""

    def __init__(self, rule: Rule, context: Context, form: Timing) -> None:
        super().__init__(rule, context)
        self.form = form
        self._events = frozenset(form.events)
        self._start = frozenset(form.start)
        if form.within is not None and not form.start and not rule.slice:
            self._open_slice(())

    def state(self, key: Key) -> Clock:  # noqa: ARG002  # the same for every key
        clock = Clock()
        if self.form.within is not None and not self.form.start:
            clock.ms, clock.mark = 0.0, Mark("http.response", 0)
        return clock

    def step(self, event: Event, names: frozenset[str]) -> None:
        ms = self.context.ms
        if ms is None:
            return
        for key, clock in self.reached(event):
            if names & self._events and clock.ms is not None:
                self._measure(key, clock, event, ms - clock.ms)
            if self.form.largest_gap is not None or names & self._start:
                clock.ms, clock.mark = ms, Mark(event.type, event.number)

    def still(self, event: Event, names: frozenset[str], columns: Collection[str]) -> bool:  # noqa: ARG002  # a name is a name
        return self.context.ms is None or (self.form.largest_gap is not None and not self._start)

    def fits(self, stretch: Stretch, names: frozenset[str]) -> bool:  # noqa: ARG002  # as above
        most = self.form.largest_gap
        clocks = [clock.ms for _, clock in self.peeked(stretch.event)]
        times = [ms for _, ms in stretch.times]
        return most is None or all(
            before is not None and all(b - a <= most for a, b in pairwise([before, *times]))
            for before in clocks
        )

    def extend(self, stretch: Stretch, names: frozenset[str]) -> None:  # noqa: ARG002  # as above
        if not stretch.times:
            return
        for _, clock in self.peeked(stretch.event):
            clock.fired = True
            clock.ms = stretch.times[-1][1]
            clock.mark = Mark(stretch.event.type, stretch.last)

    def _measure(self, key: Key, clock: Clock, event: Event, elapsed: float) -> None:
        most = self.form.largest_gap if self.form.within is None else self.form.within
        assert most is not None
        clock.fired = True
        if elapsed > most:
            message = f"{event.type} came {elapsed:.0f} ms after {clock.mark}, at most {most:.0f}"
            expected = (f"within {most:.0f} ms",)
            got = f"{elapsed:.0f} ms"
            self.violate(key, event.number, message, expected=expected, got=got, after=clock.mark)
        elif self.form.within is not None:
            clock.ms = None

    def close(self, how: Ending) -> None:
        if self.form.within is None:
            return
        for key, clock in self.slices.items():
            if clock.ms is not None and not clock.silent:
                expected = self.describe(self._events)
                message = f"none of {', '.join(expected)} came in time"
                facts: Mapping[str, Any] = {"expected": expected, "got": "end of stream"}
                self.owe(key, self.context.last, message, how, after=clock.mark, **facts)
