"""Form `fold`: collect a field over events and compare what came together.

`CollectMonitor` joins, lists, counts or sums and compares with what a later event states, with a
regular expression or a bound. The folds that only watch text stream by are in `leaks` and `growth`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, Final

import msgspec

from conformance.core.events import Ending, Event
from conformance.rules.model import Fold, Rule, Stated
from conformance.rules.monitors.base import (
    CapReachedError,
    Context,
    Key,
    Mark,
    Monitor,
    State,
)
from conformance.rules.monitors.differences import first_difference, first_missing
from conformance.rules.monitors.texts import difference
from conformance.rules.paths import MISSING, getter, without
from conformance.rules.patterns import is_number, regex, same
from conformance.rules.repetition import Stretch, is_related

MOST_BYTES: Final = 16 * 1024 * 1024
MOST_PARTS: Final = MOST_BYTES // 16
MOST_WORK: Final = 64 * MOST_BYTES


class Collected(State):
    """What one slice collected.

    `parts` are values, or joined texts of several events; `origins` tell of each text which event
    it began in, and how many characters each event brought. `count` is that of the events.
    """

    __slots__ = ("count", "mark", "orders", "origins", "parts", "size")

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[Any] = []
        self.origins: list[tuple[int, Sequence[int]]] = []
        self.orders: list[Any] = []
        self.count = 0
        self.size = 0
        self.mark: Mark | None = None

    def event_of(self, at: int) -> int | None:
        """The event that a character of the joined texts came in."""
        for first, lengths in self.origins:
            for number, length in enumerate(lengths, first):
                if at < length:
                    return number
                at -= length
        return None


class CollectMonitor(Monitor[Collected]):
    """concat, list, count, sum or json, compared once its time has come."""

    collects = True

    def __init__(self, rule: Rule, context: Context, form: Fold, masks: tuple[str, ...]) -> None:
        super().__init__(rule, context)
        self.form = form
        self.masks = tuple(tuple(path.split(".")) for path in masks)
        whole = lambda data: data  # noqa: E731  # `with: count` needs no field
        self._paths = {n: getter(path) if path else whole for n, path in form.paths.items()}
        self._work = 0
        self._order = getter(form.order) if form.order else None
        self._stated: Stated | None = form.equals or form.contains
        self._compares = frozenset(self._stated.events if self._stated else form.at)
        self._matches = regex(form.matches) if form.matches is not None else None

    def state(self, key: Key) -> Collected:  # noqa: ARG002  # the same for every key
        return Collected()

    def step(self, event: Event, names: frozenset[str]) -> None:
        collecting = names & self._paths.keys()
        comparing = names & self._compares
        # A bound (`at`) only asks slices that are there; a statement may be the first we hear.
        opens = bool(collecting) or (bool(comparing) and self._stated is not None)
        for key, state in self.reached(event, opens=opens):
            if collecting:
                self._collect(state, event, self._paths[min(collecting)](event.data))
            if comparing and not state.silent:
                self._compare(key, state, event)

    def _collect(self, state: Collected, event: Event, value: Any) -> None:
        state.mark = Mark(event.type, event.number)
        if self.form.how in ("concat", "json"):
            if not isinstance(value, str) or not value:
                return
            state.size += len(value)
        elif value is MISSING:
            return
        elif self.form.how == "list":
            state.size += len(msgspec.json.encode(value))
        if state.size > MOST_BYTES or state.count >= MOST_PARTS:
            raise CapReachedError(f"a fold grew beyond {MOST_BYTES} bytes")
        state.count += 1
        if self.form.how == "count":
            return  # how many there were is all that is asked
        state.parts.append(value)
        if self.form.how in ("concat", "json"):
            state.origins.append((event.number, (len(value),)))
        if self._order:
            state.orders.append(self._order(event.data))

    def still(self, event: Event, names: frozenset[str], columns: Collection[str]) -> bool:
        if names & self._compares:
            return False
        name = min(names & self._paths.keys())
        path = self.form.paths[name]
        value = self._paths[name](event.data)
        if self.form.how not in ("concat", "json"):
            return self.form.how == "count" and not self.form.order and value is not MISSING
        return (path in columns and isinstance(value, str)) or not (
            is_related(path, columns) or (value and value is not MISSING)
        )

    def fits(self, stretch: Stretch, names: frozenset[str]) -> bool:
        path = self._column(stretch, names)
        more = len(stretch.columns[path].joined) if path is not None else 0
        return all(
            state.size + more <= MOST_BYTES and state.count + stretch.count < MOST_PARTS
            for _, state in self.peeked(stretch.event)
        )

    def extend(self, stretch: Stretch, names: frozenset[str]) -> None:
        path = self._column(stretch, names)
        for _, state in self.peeked(stretch.event):
            state.mark = Mark(stretch.event.type, stretch.last)
            if path is not None:
                text = stretch.columns[path].joined
                state.size += len(text)
                state.parts.append(text)
                state.origins.append((stretch.first, stretch.columns[path].lengths))
            if path is not None or self.form.how == "count":
                state.count += stretch.count

    def _column(self, stretch: Stretch, names: frozenset[str]) -> str | None:
        """The column whose texts are joined, if there is one."""
        path = self.form.paths[min(names)]
        return path if self.form.how != "count" and path in stretch.columns else None

    def value(self, state: Collected) -> Any:
        """What the fold amounts to."""
        # Many comparisons of a large fold would not be linear.
        self._work += state.size + state.count
        if self._work > MOST_WORK:
            raise CapReachedError("a large fold is compared too often")
        if self.form.how in ("concat", "json"):
            return "".join(state.parts)
        if self.form.how == "count":
            return state.count
        if self.form.how == "sum":
            return sum(part for part in state.parts if is_number(part))
        return [without(part, self.masks) for part in self._ordered(state)]

    def _ordered(self, state: Collected) -> list[Any]:
        numbers = [o for o in state.orders if isinstance(o, int | float)]
        if self._order is None or len(numbers) < len(state.parts):
            return state.parts
        pairs = sorted(zip(state.orders, range(len(state.parts)), strict=True))
        return [state.parts[position] for _, position in pairs]

    def _compare(self, key: Key, state: Collected, event: Event) -> None:
        if self._stated is None:
            self._judge(key, state, event.number)
            return
        stated = getter(self._stated.path)(event.data)
        if stated is MISSING:
            if state.count:
                self._lost(key, state, event)
            return
        state.fired = True
        if isinstance(stated, list):
            stated = [without(element, self.masks) for element in stated]
        collected = self.value(state)
        if self.form.contains is not None:
            self._contained(key, state, event, collected, stated)
        elif not same(collected, stated):
            self._differs(key, state, event, collected, stated)

    def _lost(self, key: Key, state: Collected, event: Event) -> None:
        assert self._stated is not None
        message = f"{event.type} has no {self._stated.path} for what {state.mark} ended"
        expected = (self._stated.path,)
        self.violate(key, event.number, message, expected=expected, got="absent", after=state.mark)

    def _contained(
        self, key: Key, state: Collected, event: Event, collected: Any, stated: Any
    ) -> None:
        if isinstance(collected, str):
            holds = isinstance(stated, str) and collected in stated
            missing = MISSING if holds else collected
        else:
            missing = first_missing(collected, stated)
        if missing is MISSING:
            return
        assert self._stated is not None
        what = json.dumps(missing, ensure_ascii=False)[:200]
        message = f"{self._stated.path} of {event.type} lacks what was streamed: {what}"
        self.violate(key, event.number, message, expected=(what,), got="absent", after=state.mark)

    def _differs(
        self, key: Key, state: Collected, event: Event, collected: Any, stated: Any
    ) -> None:
        assert self._stated is not None
        where = f"{self._stated.path} of {event.type}"
        parts = f"{state.count} " + "/".join(self.describe(frozenset(self._paths)))
        if isinstance(collected, str) and isinstance(stated, str):
            at, had, states = difference(collected, stated)
            number = state.event_of(at)
            source = "" if number is None else f" (that character came in event {number})"
            message = (
                f"{where} differs from the {parts} joined at character {at}: "
                f"joined {had}, stated {states}{source}"
            )
        else:
            path, had, states = first_difference(collected, stated)
            message = f"{where} differs from {parts} at {path}: streamed {had}, stated {states}"
        self.violate(key, event.number, message, expected=(had,), got=states, after=state.mark)

    def _judge(self, key: Key, state: Collected, number: int) -> None:
        state.fired = True
        problem = self._problem(self.value(state))
        if problem is not None:
            wanted, got = problem
            message = f"expected {wanted}, got {got}"
            self.violate(key, number, message, expected=(wanted,), got=got, after=state.mark)

    def _problem(self, value: Any) -> tuple[str, str] | None:
        if self.form.how == "json":
            return _not_json(value)
        if self._matches is not None:
            text = value if isinstance(value, str) else json.dumps(value)
            ends = repr(text if len(text) <= 80 else f"{text[:40]}…{text[-40:]}")
            return None if self._matches(text) else (f"a match of {self.form.matches!r}", ends)
        size = len(value) if isinstance(value, str | list) else value
        return None if size >= self.form.at_least else (f"at least {self.form.at_least}", str(size))

    def close(self, how: Ending) -> None:
        if self._stated is not None or self.form.at:
            return
        for key, state in self.slices.items():
            if state.silent:
                continue
            if how == "eof" and not self.context.broken:
                self._judge(key, state, self.context.last)
            elif self._problem(self.value(state)) is not None:
                self.inconclusive = self.inconclusive or "the stream was broken"
            else:
                state.fired = True


def _not_json(text: str) -> tuple[str, str] | None:
    try:
        msgspec.json.decode(text.encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        return "JSON", f"{err}, ends in {text[-40:]!r}"
    except RecursionError:
        return "JSON", "nesting deeper than the decoder goes"
    return None
