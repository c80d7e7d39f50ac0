"""Forms about which events come when: `grammar`, `never`, `response`."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from conformance.core.events import Ending, Event
from conformance.rules.grammar import Automaton, TooManyStatesError
from conformance.rules.model import Alias, Answer, Never, Rule
from conformance.rules.monitors.base import (
    CapReachedError,
    Context,
    Key,
    Mark,
    Monitor,
    State,
    either,
)
from conformance.rules.paths import MISSING, getter
from conformance.rules.patterns import fields_named
from conformance.rules.repetition import Stretch


@lru_cache(maxsize=4096)
def names_of(names: tuple[str, ...]) -> frozenset[str]:
    """A set that all monitors of a rule share: thousands of streams may be under way."""
    return frozenset(names)


class Place(State):
    """Where a slice stands in its grammar."""

    __slots__ = ("at", "last")

    def __init__(self, start: int) -> None:
        super().__init__()
        self.at = start
        self.last: Mark | None = None


class GrammarMonitor(Monitor[Place]):
    """The events that the rule names spell a word, slice by slice."""

    def __init__(self, rule: Rule, context: Context, automaton: Automaton) -> None:
        super().__init__(rule, context)
        self.automaton = automaton

    def state(self, key: Key) -> Place:  # noqa: ARG002  # the same for every key
        return Place(self.automaton.start)

    def step(self, event: Event, names: frozenset[str]) -> None:
        for key, place in self.reached(event):
            place.fired = True
            following = self._follow(place.at, names)
            if following < 0:
                self._misplaced(key, place, event)
            else:
                place.at = following
                place.last = Mark(event.type, event.number)

    def _follow(self, at: int, names: frozenset[str]) -> int:
        try:
            return self.automaton.step(at, names)
        except TooManyStatesError as err:
            raise CapReachedError(str(err)) from err

    def still(self, event: Event, names: frozenset[str], columns: Collection[str]) -> bool:  # noqa: ARG002  # a name is a name
        return all(
            place.last is not None and self._stays(place.at, names)
            for _, place in self.peeked(event)
        )

    def _stays(self, at: int, names: frozenset[str]) -> bool:
        try:
            return self.automaton.step(at, names) == at
        except TooManyStatesError:
            return False

    def extend(self, stretch: Stretch, names: frozenset[str]) -> None:  # noqa: ARG002  # as above
        for _, place in self.peeked(stretch.event):
            place.last = Mark(stretch.event.type, stretch.last)

    def _misplaced(self, key: Key, place: Place, event: Event) -> None:
        expected = self._expected(place)
        message = f"expected {either(expected)}{_after(place.last)}, got {event.type}"
        self.violate(
            key, event.number, message, expected=expected, got=event.type, after=place.last
        )

    def _expected(self, place: Place) -> tuple[str, ...]:
        expected = self.describe(self.automaton.expected(place.at))
        return (*expected, "end of stream") if self.automaton.accepts(place.at) else expected

    def close(self, how: Ending) -> None:
        for key, place in self.slices.items():
            if place.silent or self.automaton.accepts(place.at):
                continue
            expected = self._expected(place)
            message = f"expected {either(expected)}{_after(place.last)}, got end of stream"
            facts = {"expected": expected, "got": "end of stream", "after": place.last}
            self.owe(key, self.context.last, message, how, **facts)


def _after(mark: Mark | None) -> str:
    return f" after {mark}" if mark else " first"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An event that a rule forbids, and the name under which it does."""

    event: Event
    name: str


def _seen(event: Event, alias: Alias) -> str:
    """What the fields that the alias looks at hold: ` with reasoning 11, output 10`."""
    paths: list[str] = []
    for path, pattern in alias.conditions:
        paths.extend([path, *fields_named(pattern)])
    views = [f"{path} {_view(getter(path)(event.data))}" for path in dict.fromkeys(paths)]
    return f" with {', '.join(views)}" if views else ""


def _view(value: object) -> str:
    if value is MISSING:
        return "absent"
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else text[:57] + "..."


class Window(State):
    """A slice of `never`: when its bounds were seen, and what waits for the frame to end."""

    __slots__ = ("after", "latest", "pending", "until")

    def __init__(self) -> None:
        super().__init__()
        self.after: Mark | None = None
        self.latest: Mark | None = None
        self.until: int | None = None
        self.pending: Occurrence | None = None


class NeverMonitor(Monitor[Window]):
    """An event does not occur; with `until`, it occurs only once the other has."""

    def __init__(self, rule: Rule, context: Context, form: Never) -> None:
        super().__init__(rule, context)
        self.form = form
        self._events = names_of(form.events)
        self._after = names_of(form.after)
        self._until = names_of(form.until)
        self._waiting: list[tuple[Key, Window]] = []
        self.settles = bool(form.until)
        # Without bounds it holds as soon as such an event was looked at.
        self.wakes_on_type = not (form.after or form.until)

    def state(self, key: Key) -> Window:  # noqa: ARG002  # the same for every key
        return Window()

    def step(self, event: Event, names: frozenset[str]) -> None:
        for key, window in self.reached(event):
            window.fired = window.fired or not (self._after or self._until)
            if occurring := names & self._events:
                self._occurs(key, window, Occurrence(event, min(occurring)))
            if names & self._until:
                self._close(window, event.number)
            if names & self._after:
                window.latest = Mark(event.type, event.number)
                self._open(window, window.latest)
        self.wakes_on_type = self.wakes_on_type and bool(self.rule.slice)

    def still(self, event: Event, names: frozenset[str], columns: Collection[str]) -> bool:  # noqa: ARG002  # a name is a name
        windows = [window for _, window in self.peeked(event)]
        if names & self._after:
            if names & self._until or any(w.after is None or w.until is not None for w in windows):
                return False
        elif names & self._until and any(map(self._closes, windows)):
            return False
        return not (names & self._events and any(map(self._counts, windows)))

    def extend(self, stretch: Stretch, names: frozenset[str]) -> None:
        if names & self._after:
            for _, window in self.peeked(stretch.event):
                window.latest = Mark(stretch.event.type, stretch.last)

    def _closes(self, window: Window) -> bool:
        """Whether an `until` would make a difference."""
        return window.until is None and (not self._after or window.after is not None)

    def _counts(self, window: Window) -> bool:
        """Whether the forbidden event would be looked at, now or at the end of its frame."""
        opened = not self._after or window.after is not None
        return opened and (not self._until or window.until is None)

    @staticmethod
    def _open(window: Window, mark: Mark) -> None:
        window.fired = True
        if window.after is None or window.until is not None:
            window.after, window.until = mark, None

    def _close(self, window: Window, number: int) -> None:
        if self._after and (window.after is None or window.after.number >= number):
            return
        window.until = number if window.until is None else window.until
        window.pending = None  # it came in this frame, hence not before this bound
        if window.latest is not None and window.latest.number == number:
            self._open(window, window.latest)

    def _occurs(self, key: Key, window: Window, occurrence: Occurrence) -> None:
        number = occurrence.event.number
        if self._after and (window.after is None or window.after.number >= number):
            return
        window.fired = True
        if not self._until:
            self._forbidden(key, window, occurrence)
        elif window.until is None and window.pending is None:
            window.pending = occurrence
            self._waiting.append((key, window))

    def settle(self) -> None:
        for key, window in self._waiting:
            occurrence, window.pending = window.pending, None
            if occurrence is not None:
                self._forbidden(key, window, occurrence)
        self._waiting.clear()

    def _forbidden(self, key: Key, window: Window, occurrence: Occurrence) -> None:
        event = occurrence.event
        expected = self.describe(self.form.until)
        came = f"{event.type}{_seen(event, self.rule.aliases[occurrence.name])}"
        if self._until:
            message = f"{came} came without an earlier {either(expected)}"
        elif window.after:
            message = f"{came} came after {window.after}"
        else:
            message = f"{came} may not occur"
        after = window.after
        self.violate(key, event.number, message, expected=expected, got=event.type, after=after)

    def close(self, how: Ending) -> None:  # noqa: ARG002  # absence has no debts
        self.settle()

    @property
    def fired(self) -> bool:
        # An unbounded absence of a whole type has been looked at once its layer spoke at all.
        bare = (alias for name, alias in self.rule.aliases.items() if name in self._events)
        unbounded = not (self._after or self._until)
        spoke = any(not a.conditions and a.layer in self.context.layers for a in bare)
        return super().fired or (unbounded and spoke)


class Debt(State):
    """A slice of `response`: the first unanswered event, and bounds met in this frame."""

    __slots__ = ("answered", "bound", "owed")

    def __init__(self) -> None:
        super().__init__()
        self.owed: Mark | None = None
        self.answered = -1
        self.bound: Mark | None = None


class AnswerMonitor(Monitor[Debt]):
    """Every `when` is answered by a `then`, at the latest before `before`."""

    def __init__(self, rule: Rule, context: Context, form: Answer) -> None:
        super().__init__(rule, context)
        self.form = form
        self._when = names_of(form.when)
        self._then = names_of(form.then)
        self._before = names_of(form.before)
        self._opens = names_of(form.opens)
        self._waiting: list[tuple[Key, Debt]] = []
        self.settles = bool(form.before)
        self.wakes_on_all = not form.when and not form.opens and bool(rule.slice)
        if not form.when and not form.opens and not rule.slice:
            self._open((), Mark("start of stream", 0))

    def state(self, key: Key) -> Debt:  # noqa: ARG002  # the same for every key
        return Debt()

    def _open(self, key: Key, mark: Mark) -> None:
        debt = self._open_slice(key)
        debt.fired = True
        debt.owed = mark

    def step(self, event: Event, names: frozenset[str]) -> None:
        # An answer opens too: it may stand in the same frame, ahead of what it answers.
        opens = bool(names & (self._opens | self._when | self._then)) or self.wakes_on_all
        for key, debt in self.reached(event, opens=opens):
            if self._asks(names):
                debt.fired = True
                if debt.answered != event.number if self._when else debt.answered < 0:
                    debt.owed = debt.owed or Mark(event.type, event.number)
            if names & self._then:
                debt.owed, debt.answered = None, event.number
            if names & self._before and debt.owed and debt.owed.number < event.number:
                debt.bound = debt.bound or Mark(event.type, event.number)
                self._waiting.append((key, debt))

    def still(self, event: Event, names: frozenset[str], columns: Collection[str]) -> bool:  # noqa: ARG002  # a name is a name
        debts = [debt for _, debt in self.peeked(event)]
        if names & self._before and any(debt.owed for debt in debts):
            return False
        if names & self._then:
            return all(debt.owed is None for debt in debts)
        if not self._asks(names):
            return True
        return all(debt.owed or (not self._when and debt.answered >= 0) for debt in debts)

    def fits(self, stretch: Stretch, names: frozenset[str]) -> bool:
        return bool(names) or self.affords(stretch)

    def extend(self, stretch: Stretch, names: frozenset[str]) -> None:
        if not names:  # woken by every event, and then once more if it has a name
            self.visit(stretch)
        if names & self._then:
            for _, debt in self.peeked(stretch.event):
                debt.answered = stretch.last

    def _asks(self, names: frozenset[str]) -> bool:
        asking = self._when or self._opens
        return not asking or bool(names & asking)

    def settle(self) -> None:
        for key, debt in self._waiting:
            bound, debt.bound = debt.bound, None
            if bound is None or debt.owed is None or debt.silent:
                continue
            expected = self.describe(self.form.then)
            message = f"expected {either(expected)}{self._since(debt)} before {bound}"
            if self.context.broken:
                self.inconclusive = self.inconclusive or message
                debt.owed = None
            else:
                self.violate(
                    key,
                    bound.number,
                    message,
                    expected=expected,
                    got=bound.type,
                    after=debt.owed if debt.owed.number else None,
                )
        self._waiting.clear()

    def _since(self, debt: Debt) -> str:
        return f" after {debt.owed}" if debt.owed and debt.owed.number else ""

    def close(self, how: Ending) -> None:
        self.settle()
        expected = self.describe(self.form.then)
        for key, debt in self.slices.items():
            if debt.owed is not None and not debt.silent:
                message = f"expected {either(expected)}{self._since(debt)}, got end of stream"
                after = debt.owed if debt.owed.number else None
                facts = {"expected": expected, "got": "end of stream", "after": after}
                self.owe(key, self.context.last, message, how, **facts)
