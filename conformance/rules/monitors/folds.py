"""Form `fold`: collect a field over events and compare what came together.

`CollectMonitor` joins, lists, counts or sums and compares with what a later event states, with a
regular expression or a bound. `LacksMonitor` looks for markers, or for the text of another fold,
in text that streams by. `GrowsMonitor` notices deltas that repeat everything so far.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from conformance.events import Ending, Event
from conformance.rules.model import Fold, Overlap, Rule, Stated
from conformance.rules.monitors.base import (
    CapReachedError,
    Context,
    Key,
    Mark,
    Monitor,
    State,
)
from conformance.rules.monitors.differences import first_difference, first_missing
from conformance.rules.monitors.texts import Hit, Search, difference
from conformance.rules.paths import MISSING, getter, without
from conformance.rules.patterns import is_number, regex, same

MOST_BYTES: Final = 16 * 1024 * 1024
MOST_WORK: Final = 64 * MOST_BYTES
LONGEST_NEEDLE: Final = 256
MOST_NEEDLES: Final = 64
GROWING_DELTAS: Final = 4


class Collected(State):
    """What one slice collected: parts with the event each came from."""

    __slots__ = ("mark", "numbers", "orders", "parts", "size")

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[Any] = []
        self.numbers: list[int] = []
        self.orders: list[Any] = []
        self.size = 0
        self.mark: Mark | None = None


class CollectMonitor(Monitor[Collected]):
    """concat, list, count, sum or json, compared once its time has come."""

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
        elif self.form.how == "count":
            value = None  # how many there were is all that is asked
        elif self.form.how == "list":
            state.size += len(msgspec.json.encode(value))
        if state.size > MOST_BYTES or len(state.parts) >= MOST_BYTES // 16:
            raise CapReachedError(f"a fold grew beyond {MOST_BYTES} bytes")
        state.parts.append(value)
        state.numbers.append(event.number)
        state.orders.append(self._order(event.data) if self._order else None)

    def value(self, state: Collected) -> Any:
        """What the fold amounts to."""
        # Many comparisons of a large fold would not be linear.
        self._work += state.size + len(state.parts)
        if self._work > MOST_WORK:
            raise CapReachedError("a large fold is compared too often")
        if self.form.how in ("concat", "json"):
            return "".join(state.parts)
        if self.form.how == "count":
            return len(state.parts)
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
            if state.parts:
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
        parts = f"{len(state.parts)} " + "/".join(self.describe(frozenset(self._paths)))
        if isinstance(collected, str) and isinstance(stated, str):
            at, had, states = difference(collected, stated)
            source = self._event_of(state, at)
            message = (
                f"{where} differs from the {parts} joined at character {at}: "
                f"joined {had}, stated {states}{source}"
            )
        else:
            path, had, states = first_difference(collected, stated)
            message = f"{where} differs from {parts} at {path}: streamed {had}, stated {states}"
        self.violate(key, event.number, message, expected=(had,), got=states, after=state.mark)

    @staticmethod
    def _event_of(state: Collected, at: int) -> str:
        for part, number in zip(state.parts, state.numbers, strict=True):
            if at < len(part):
                return f" (that character came in event {number})"
            at -= len(part)
        return ""

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


class Watched(State):
    """A slice of `lacks`: the text that streams by, and the other fold's open text."""

    __slots__ = ("needle", "needles", "search")

    def __init__(self, markers: tuple[str, ...]) -> None:
        super().__init__()
        self.search = Search(markers)
        self.needle = ""
        self.needles = 0


class LacksMonitor(Monitor[Watched]):
    """Text holds none of some markers, or not the text of another fold, under any chunking.

    Of the other fold the first LONGEST_NEEDLE characters of each uninterrupted run are looked
    for: a leak begins at the beginning, and memory stays bounded.
    """

    def __init__(self, rule: Rule, context: Context, form: Fold, markers: tuple[str, ...]) -> None:
        super().__init__(rule, context)
        self.form = form
        self.markers = markers
        self.over = form.lacks if isinstance(form.lacks, Overlap) else None
        self._paths = {name: getter(path) for name, path in form.paths.items()}
        self._others = {n: getter(p) for n, p in self.over.paths.items()} if self.over else {}

    def state(self, key: Key) -> Watched:  # noqa: ARG002  # the same for every key
        return Watched(self.markers)

    def step(self, event: Event, names: frozenset[str]) -> None:
        for key, state in self.reached(event):
            if other := names & self._others.keys():
                self._extend(state, self._others[min(other)](event.data))
            if own := names & self._paths.keys():
                self._look(key, state, event, self._paths[min(own)](event.data))

    def _extend(self, state: Watched, text: Any) -> None:
        if isinstance(text, str) and len(state.needle) < LONGEST_NEEDLE:
            state.needle = (state.needle + text)[:LONGEST_NEEDLE]

    def _look(self, key: Key, state: Watched, event: Event, text: Any) -> None:
        if not isinstance(text, str) or not text:
            return
        if self.over is not None:
            self._arm(state, self.over.at_least)
        state.fired = state.fired or bool(state.search.needles)
        hit = state.search.feed(text, event.number)
        if hit is not None:
            self._found(key, hit)

    @staticmethod
    def _arm(state: Watched, at_least: int) -> None:
        needle, state.needle = state.needle.strip(), ""
        if len(needle) >= at_least and state.needles < MOST_NEEDLES:
            state.search.add(needle)
            state.needles += 1

    def close(self, how: Ending) -> None:  # noqa: ARG002  # a leak is a leak however it ends
        for key, state in self.slices.items():
            hit = None if state.silent else state.search.flush()
            if hit is not None:
                self._found(key, hit)

    def _found(self, key: Key, hit: Hit) -> None:
        spread = f", begun in event {hit.first}" if hit.first != hit.last else ""
        clipped = hit.needle if len(hit.needle) <= 60 else hit.needle[:60] + "…"
        message = f"{clipped!r} in text (…{hit.around[:120]!r}…){spread}"
        self.violate(key, hit.last, message, expected=("text without it",), got=repr(clipped))


class Growth(State):
    """The delta before, and how many there were while each began with its predecessor."""

    __slots__ = ("before", "count", "normal")

    def __init__(self) -> None:
        super().__init__()
        self.before = ""
        self.count = 0
        self.normal = False


class GrowsMonitor(Monitor[Growth]):
    """Of at least four deltas in a slice, not every one begins with the one before it."""

    def __init__(self, rule: Rule, context: Context, form: Fold) -> None:
        super().__init__(rule, context)
        self._paths = {name: getter(path) for name, path in form.paths.items()}

    def state(self, key: Key) -> Growth:  # noqa: ARG002  # the same for every key
        return Growth()

    def step(self, event: Event, names: frozenset[str]) -> None:
        text = self._paths[min(names)](event.data)
        if not isinstance(text, str) or not text:
            return
        for key, growth in self.reached(event):
            if not growth.normal:
                self._grow(key, growth, event, text)

    def _grow(self, key: Key, growth: Growth, event: Event, text: str) -> None:
        if len(text) <= len(growth.before) or not text.startswith(growth.before):
            growth.normal = growth.fired = True
            growth.before = ""
            return
        growth.before = text
        growth.count += 1
        if growth.count >= GROWING_DELTAS:
            message = f"each of {growth.count} deltas begins with the one before"
            self.violate(key, event.number, message, expected=("increments",), got="whole text")
