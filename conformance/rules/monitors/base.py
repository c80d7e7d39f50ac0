"""What every monitor shares: slices, violations, and the verdict they add up to.

Rule 1: a slice that has been violated is silent from then on; there is one finding per rule and
slice, however long the stream goes on.
Rule 2: bounds are judged when a frame is complete (`settle`), because two events of one frame are
neither before nor after each other.
Rule 3: an obligation that is still open is a violation at a clean end of stream, and inconclusive
where an error event came or we or the transport broke the stream.
Rule 4: nothing grows without a cap; beyond it the monitor stops with an error of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

import msgspec

from conformance.core.events import Ending, Event, Layer
from conformance.rules.model import Rule
from conformance.rules.paths import MISSING, getter
from conformance.rules.patterns import is_number
from conformance.rules.repetition import Stretch
from conformance.rules.verdicts import Verdict

MOST_SLICES: Final = 65_536
LONGEST_KEY: Final = 256
MOST_VISITS: Final = 1_000_000

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule broken: plain facts, to be dressed as a finding by whoever knows the bytes."""

    number: int
    slice: Mapping[str, Any]
    expected: tuple[str, ...]
    got: str
    after: str
    message: str


class CapReachedError(Exception):
    """A monitor met one of its caps; the rule ends with verdict ERROR."""


class Context(Protocol):
    """What a monitor may know of the exchange around it."""

    broken: bool  # an error event came
    layers: set[Layer]  # layers that had an event so far
    declared: frozenset[str] | None  # events that the client says it reports; None: it does not say
    last: int  # number of the last frame so far
    ms: float | None  # time of the current frame since the response head

    def asked(self, path: str) -> Any: ...

    def chosen(self, path: str) -> Any: ...

    def found(self, rule: Rule, violation: Violation) -> None: ...

    def slicer(self, paths: tuple[str, ...]) -> Slicer:
        """The one that all rules with these slice fields share."""


class Slicer:
    """Tells which slice an event belongs to; for many rules, and as often as they ask."""

    __slots__ = ("_event", "_getters", "_key")

    def __init__(self, paths: tuple[str, ...]) -> None:
        self._getters = tuple(getter(path) for path in paths)
        self._event: Event | None = None
        self._key: Key = ()

    def key(self, event: Event) -> Key:
        """The event's slice fields; None for one that is missing or null."""
        if self._getters and event is not self._event:
            self._event = event
            self._key = tuple([_field(get(event.data)) for get in self._getters])
        return self._key


class Mark(msgspec.Struct, frozen=True, gc=False):
    """An event remembered for a message: its type and number."""

    type: str
    number: int

    def __str__(self) -> str:
        return f"{self.type} (event {self.number})"


class State:
    """What is kept of one slice; monitors extend it."""

    __slots__ = ("fired", "silent")

    def __init__(self) -> None:
        self.fired = False
        self.silent = False


S = TypeVar("S", bound=State)


class Monitor(Generic[S]):
    """One rule watching one exchange (or one scenario)."""

    collects: ClassVar[bool] = False  # the order of what it reads matters
    wakes_on_type: bool = False  # step also for events whose conditions do not hold
    wakes_on_all: bool = False  # step for every event
    settles: bool = False  # something is left to do when the frame is complete
    spreads: ClassVar[bool] = False  # takes stretches of events that lack slice fields, too

    def __init__(self, rule: Rule, context: Context) -> None:
        self.rule = rule
        self.context = context
        self.violations: list[Violation] = []
        self.inconclusive = ""
        self.error = ""
        self.slices: dict[Key, S] = {}
        self._slicer = context.slicer(rule.slice)
        self._visits = 0

    # What a form defines...

    def state(self, key: Key) -> S:
        """A fresh state for a new slice."""
        raise NotImplementedError

    def step(self, event: Event, names: frozenset[str]) -> None:
        """Reads one event that answers to `names` of this rule."""
        raise NotImplementedError

    def settle(self) -> None:
        """The frame is complete."""

    def close(self, how: Ending) -> None:
        """The exchange is over."""

    # What forms know about events that repeat...

    def still(self, event: Event, names: frozenset[str], columns: Collection[str]) -> bool:  # noqa: ARG002  # by default nothing is known
        """Whether more events alike but for the columns would change nothing but collections."""
        return False

    def fits(self, stretch: Stretch, names: frozenset[str]) -> bool:  # noqa: ARG002  # as above
        """Whether reading the stretch event by event would violate nothing; changes nothing."""
        return True

    def extend(self, stretch: Stretch, names: frozenset[str]) -> None:
        """Takes a stretch that fits, with the outcome of reading it event by event."""

    # What forms use...

    def reached(self, event: Event, *, opens: bool = True) -> Iterable[tuple[Key, S]]:
        """The slices an event belongs to; with `opens` a full key may open a new one."""
        key = self._slicer.key(event)
        if None not in key:
            state = self.slices.get(key)
            if state is None and opens:
                state = self._open_slice(key)
            return () if state is None or state.silent else ((key, state),)
        # Many slices times many events that lack a field would not be linear.
        self._visits += len(self.slices)
        if self._visits > MOST_VISITS:
            raise CapReachedError("too many events lack a slice field while many slices are open")
        return self._agreeing(key)

    def peeked(self, event: Event) -> Iterable[tuple[Key, S]]:
        """The open slices an event belongs to, without opening one or counting the visit."""
        key = self._slicer.key(event)
        if None in key:
            return self._agreeing(key)
        state = self.slices.get(key)
        return () if state is None or state.silent else ((key, state),)

    def may_open(self, event: Event) -> bool:
        """Whether such an event would open a slice that is not there."""
        key = self._slicer.key(event)
        return None not in key and key not in self.slices

    def cost(self, event: Event) -> int:
        """The visits that such an event counts for: none if it has every slice field."""
        return len(self.slices) if None in self._slicer.key(event) else 0

    def affords(self, stretch: Stretch) -> bool:
        """Whether there are visits left for all events of the stretch."""
        return self._visits + self.cost(stretch.event) * stretch.count <= MOST_VISITS

    def visit(self, stretch: Stretch) -> None:
        """Counts the visits of all events of the stretch."""
        self._visits += self.cost(stretch.event) * stretch.count

    def _open_slice(self, key: Key) -> S:
        if len(self.slices) >= MOST_SLICES:
            raise CapReachedError(f"more than {MOST_SLICES} slices")
        state = self.slices[key] = self.state(key)
        return state

    def _agreeing(self, partial: Key) -> Iterator[tuple[Key, S]]:
        for key, state in list(self.slices.items()):
            pairs = zip(partial, key, strict=True)
            if not state.silent and all(part is None or part == whole for part, whole in pairs):
                yield key, state

    def violate(
        self,
        key: Key,
        number: int,
        message: str,
        *,
        expected: tuple[str, ...] = (),
        got: str = "",
        after: Mark | None = None,
    ) -> None:
        """Records a violation and silences the slice."""
        state = self.slices.get(key)
        if state is not None:
            state.silent = True
        fields = dict(zip(self.rule.slice, key, strict=False))
        violation = Violation(number, fields, expected, got, str(after or ""), message)
        self.violations.append(violation)
        self.context.found(self.rule, violation)

    def owe(self, key: Key, number: int, message: str, how: Ending, **facts: Any) -> None:
        """An open obligation at the end: violated, or inconclusive where the stream was broken."""
        if how == "eof" and not self.context.broken:
            self.violate(key, number, message, **facts)
        else:
            self.inconclusive = self.inconclusive or message

    def describe(self, names: tuple[str, ...] | frozenset[str]) -> tuple[str, ...]:
        """Names of this rule as wire types, sorted."""
        return tuple(sorted({self.rule.aliases[name].describe() for name in names}))

    @property
    def fired(self) -> bool:
        return any(state.fired for state in self.slices.values())

    def verdict(self) -> Verdict:
        """ERROR, FAIL, INCONCLUSIVE, PASS or VACUOUS."""
        if self.error:
            return Verdict.ERROR
        if self.violations:
            return Verdict.FAIL
        if self.inconclusive:
            return Verdict.INCONCLUSIVE
        return Verdict.PASS if self.fired else Verdict.VACUOUS


def _field(value: Any) -> Any:
    """A slice field as part of a key; None where it is missing, null or no plain value."""
    if value is MISSING or value is None:
        return None
    if isinstance(value, str):
        return value if len(value) <= LONGEST_KEY else _digest(value)
    return value if is_number(value) else _digest(repr(value))


def _digest(text: str) -> str:
    return text[:24] + "…" + hashlib.blake2b(text.encode("utf-8", "replace")).hexdigest()[:24]


def either(words: tuple[str, ...]) -> str:
    """`a, b or c`."""
    if len(words) < 2:
        return "".join(words) or "nothing"
    return f"{', '.join(words[:-1])} or {words[-1]}"
