"""Folds that join, list, count, sum or take the last, and compare once their time has come.

They compare with what a later event states, with a regular expression, with JSON or with a bound.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct, field

from conformance.core.events import Event
from conformance.core.excerpts import beginning, both_ends, ending
from conformance.rules.about import About, BreachKind, fields_held
from conformance.rules.alias import Alias
from conformance.rules.forms.base import (
    FIRED,
    OPEN,
    Act,
    Breach,
    CapReachedError,
    Context,
    Machine,
    Mark,
    Names,
    Report,
    ReportAct,
    Slice,
    State,
    Step,
    Unclear,
)
from conformance.rules.forms.differences import first_difference, first_missing
from conformance.rules.forms.texts import difference
from conformance.rules.paths import MISSING, getter, without
from conformance.rules.patterns import is_number, same
from conformance.rules.repetition import Columns, Stretch, is_related

MOST_BYTES: Final = 16 * 1024 * 1024
MOST_PARTS: Final = MOST_BYTES // 16
MOST_WORK: Final = 64 * MOST_BYTES
_SHOWN: Final = 40  # characters of a text, from either end
_TAG: Final = re.compile(r"[<\[][^<>\[\]\s]{1,40}[>\]]")
_MOST_TAGS: Final = 64  # different ones that are looked up in a request


With = Literal["concat", "list", "count", "sum", "json", "last"]


class Stated(Struct, frozen=True):
    """Where a fold's value is stated: a field of a later event, less volatile fields."""

    events: tuple[str, ...]
    path: str


class Wanted(Struct, frozen=True):
    """What a regular expression asks of the joined text, in words and as a test."""

    says: str
    holds: Callable[[str], bool]


class Collecting(Struct, frozen=True):
    """The collected field and what it is compared with.

    `stated` is the field that equals it or, with `contains`, that contains it; `wanted` is the
    pattern of `matches`, with `mentions` less the tags that the request spells; `at` are the events
    that bound it. `masks` are split paths of volatile fields.
    """

    over: Mapping[str, str]
    how: With
    order: str | None
    stated: Stated | None
    contains: bool
    wanted: Wanted | None
    at_least: Any
    at: tuple[str, ...]
    masks: tuple[tuple[str, ...], ...]
    mentions: bool = False


class CollectedParts(Struct):
    """What one slice collected.

    `parts` are values, or texts. `origins` say of each text which event it came in: its number, or
    that of the first of several events and how many characters each of them brought.
    `count` is that of the events.
    """

    parts: list[Any] = field(default_factory=list)
    origins: list[int | tuple[int, Sequence[int]]] = field(default_factory=list)
    orders: list[Any] = field(default_factory=list)
    count: int = 0
    size: int = 0

    def event_of(self, at: int) -> int | None:
        """The event that a character of the joined texts came in."""
        for part, origin in zip(self.parts, self.origins, strict=True):
            first, lengths = (origin, (len(part),)) if isinstance(origin, int) else origin
            for number, length in enumerate(lengths, first):
                if at < length:
                    return number
                at -= length
        return None


_Fault = tuple[str, str, str]  # message (after the field and its event), expected, found


class CollectMachine(Machine):
    """Texts and numbers are the business of its acts."""

    def __init__(self, aliases: Mapping[str, Alias], form: Collecting, *, sliced: bool) -> None:
        super().__init__(aliases, sliced=sliced)
        self.form = form
        self.stated = form.stated
        self.collecting = frozenset(form.over)
        self._comparing = frozenset(self.stated.events if self.stated else form.at)

    def memory(self) -> CollectedParts:
        return CollectedParts()

    def opens(self, names: Names) -> bool:
        # A bound (`at`) only concerns open slices; a statement may be the first event of a slice.
        return bool(names & self.collecting or (self.stated and names & self._comparing))

    def step(self, state: State, names: Names) -> Step:
        acts: list[Act] = []
        if collecting := names & self.collecting:
            take = _TakeText if self.form.how in ("concat", "json") else _TakeAny
            acts.append(take(self, min(collecting)))
        if names & self._comparing:
            act = self._compare if self.stated else self._judge
            acts.append(ReportAct(partial(act, state is OPEN, bool(collecting))))
        return state, tuple(acts)

    def close(self, state: State) -> tuple[Act, ...]:
        if self.stated or self.form.at:
            return ()
        return (ReportAct(partial(self._judge_at_end, state)),)

    def value(self, state: CollectedParts, context: Context) -> Any:
        """What the fold amounts to."""
        # Many comparisons of a large fold would not be linear.
        spent = context.spent.get(self, 0) + state.size + state.count
        context.spent[self] = spent
        if spent > MOST_WORK:
            raise CapReachedError("a large fold is compared too often")
        if self.form.how in ("concat", "json"):
            return "".join(state.parts)
        if self.form.how == "count":
            return state.count
        if self.form.how == "sum":
            return sum(part for part in state.parts if is_number(part))
        if self.form.how == "last":
            return state.parts[0]
        return [without(part, self.form.masks) for part in self._in_order(state)]

    def _in_order(self, state: CollectedParts) -> list[Any]:
        numbers = [o for o in state.orders if isinstance(o, int | float)]
        if self.form.order is None or len(numbers) < len(state.parts):
            return state.parts
        pairs = sorted(zip(state.orders, range(len(state.parts)), strict=True))
        return [state.parts[position] for _, position in pairs]

    def _compare(self, is_first: bool, has_more: bool, slice_: Slice, event: Event) -> Report:
        assert self.stated is not None
        state: CollectedParts = slice_.memory[self.position]
        path = self.stated.path
        stated = getter(path)(event.data)
        if (self.form.how == "last" and not state.parts) or (stated is MISSING and not state.count):
            return None
        found = self._fault(state, slice_.context, stated)
        if found is None:
            has_subject = bool(state.count) or (bool(stated) and not self.form.contains)
            return FIRED if is_first and has_subject else None
        where, wanted, got = found
        after = self._last_mark(slice_, event if has_more else None)
        message = f"{path} of {event.type}{where}"
        if stated is MISSING:
            message = f"{event.type} has no {path} for what {after} ended"
        kinds, held = self.types(self.collecting), fields_held({path: stated})
        about = About(BreachKind.TEXTS, event.type, () if state.count else kinds, kinds, held)
        return Breach(message, (wanted,), got, after, about=about)

    def _fault(self, state: CollectedParts, context: Context, stated: Any) -> _Fault | None:
        assert self.stated is not None
        if stated is MISSING:
            return "", self.stated.path, "absent"
        if isinstance(stated, list):
            stated = [without(element, self.form.masks) for element in stated]
        compare = _missing_value if self.form.contains else partial(self._difference, state)
        return compare(self.value(state, context), stated)

    def _last_mark(self, slice_: Slice, event: Event | None) -> Mark | None:
        """The last event that was collected from, which may be the present one."""
        if event is not None:
            return Mark(event.type, event.number)
        return slice_.last_mark(self.position, self.collecting)

    def _difference(self, state: CollectedParts, collected: Any, stated: Any) -> _Fault | None:
        if same(collected, stated):
            return None
        parts = "/".join(self.describe(self.collecting))
        if not state.count:
            states = first_difference(collected, stated).has
            where = f": expected nothing, as no {parts} was streamed, got {states}"
            return where, "nothing", states
        parts = f"the last {parts}" if self.form.how == "last" else f"{state.count} {parts}"
        if self.form.how == "concat" and isinstance(collected, str) and isinstance(stated, str):
            at, had, states = difference(collected, stated)
            number = state.event_of(at)
            source = "" if number is None else f" (that character came in event {number})"
            where = f"the {parts} joined at character {at}: joined {had}, stated {states}{source}"
        else:
            path, had, states, _ = first_difference(collected, stated)
            where = f"{parts} at {path}: streamed {had}, stated {states}"
        return f" differs from {where}", had, states

    def _judge(self, is_first: bool, has_more: bool, slice_: Slice, event: Event) -> Report:
        after = self._last_mark(slice_, event if has_more else None)
        state: CollectedParts = slice_.memory[self.position]
        problem = self._wanted_and_found(self.value(state, slice_.context), slice_.context)
        if problem is None:
            return FIRED if is_first and state.count else None
        wanted, got = problem
        about = About(BreachKind.TEXTS)
        return Breach(f"expected {wanted}, got {got}", (wanted,), got, after, about=about)

    def _judge_at_end(self, state: State, slice_: Slice, event: Event) -> Report:
        if slice_.context.whole:
            return self._judge(state is OPEN, False, slice_, event)
        collected: CollectedParts = slice_.memory[self.position]
        value = self.value(collected, slice_.context)
        if self._wanted_and_found(value, slice_.context) is not None:
            return Unclear("the stream was broken")
        return FIRED if collected.count else None

    def _wanted_and_found(self, value: Any, context: Context) -> tuple[str, str] | None:
        """The expected value and the one found; None if they agree."""
        if self.form.how == "json":
            return _not_json(value)
        if (wanted := self.form.wanted) is not None:
            text = value if isinstance(value, str) else json.dumps(value)
            ends = repr(both_ends(text, _SHOWN, _SHOWN))
            return None if self._holds_text(wanted, text, context) else (wanted.says, ends)
        size = len(value) if isinstance(value, str | list) else value
        return None if size >= self.form.at_least else (f"at least {self.form.at_least}", str(size))

    def _holds_text(self, wanted: Wanted, text: str, context: Context) -> bool:
        """With `mentions`, tags that the request spells, or whose opening it spells, are let be."""
        if wanted.holds(text) or not self.form.mentions:
            return wanted.holds(text)
        tags = list(dict.fromkeys(_TAG.findall(text)))[:_MOST_TAGS]
        spelled = {t for t in tags if context.spelled(t) or context.spelled(t.replace("/", "", 1))}
        return wanted.holds(_TAG.sub(lambda tag: "" if tag[0] in spelled else tag[0], text))


def _missing_value(collected: Any, stated: Any) -> _Fault | None:
    if isinstance(collected, str):
        # Who keeps a text may strip it.
        holds = isinstance(stated, str) and collected.strip() in stated
        missing = MISSING if holds else collected
    else:
        missing = first_missing(collected, stated)
    if missing is MISSING:
        return None
    what = beginning(json.dumps(missing, ensure_ascii=False), 200, "")
    return f" lacks what was streamed: {what}", what, "absent"


def _not_json(text: str) -> tuple[str, str] | None:
    try:
        msgspec.json.decode(text.encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        return "JSON", f"{err}, ends in {ending(text, _SHOWN)!r}"
    except RecursionError:
        return "JSON", "nesting deeper than the decoder goes"
    return None


class _TakeEvent(Act):
    """Adds what one event brings."""

    collects = True

    def __init__(self, machine: CollectMachine, name: str) -> None:
        self.machine = machine
        self.path = machine.form.over[name]
        # `with: count` needs no field.
        self.get = getter(self.path) if self.path else lambda data: data

    def _refuse_more(self) -> None:
        raise CapReachedError(f"a fold grew beyond {MOST_BYTES} bytes")


class _TakeText(_TakeEvent):
    """Joins texts; an empty one is nothing."""

    def perform(self, slice_: Slice, event: Event) -> None:
        text = self.get(event.data)
        if not isinstance(text, str) or not text:
            return
        state: CollectedParts = slice_.memory[self.machine.position]
        state.size += len(text)
        if state.size > MOST_BYTES or state.count >= MOST_PARTS:
            self._refuse_more()
        state.count += 1
        state.parts.append(text)
        state.origins.append(event.number)

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        del slice_
        value = self.get(event.data)
        if self.path in columns and isinstance(value, str):
            return True
        return not (is_related(self.path, columns) or (value and value is not MISSING))

    def fits(self, slice_: Slice, stretch: Stretch) -> bool:
        state: CollectedParts = slice_.memory[self.machine.position]
        column = stretch.columns.get(self.path)
        more = 0 if column is None else len(column.joined)
        return state.size + more <= MOST_BYTES and state.count + stretch.count < MOST_PARTS

    def extend(self, slice_: Slice, stretch: Stretch) -> None:
        column = stretch.columns.get(self.path)
        if column is None:
            return
        state: CollectedParts = slice_.memory[self.machine.position]
        state.size += len(column.joined)
        state.count += stretch.count
        state.parts.append(column.joined)
        state.origins.append((stretch.first, column.lengths))


class _TakeAny(_TakeEvent):
    """Lists, sums or counts values, or keeps the last."""

    def perform(self, slice_: Slice, event: Event) -> None:
        value, form = self.get(event.data), self.machine.form
        if value is MISSING:
            return
        state: CollectedParts = slice_.memory[self.machine.position]
        if form.how == "last":
            state.parts.clear()
            state.size = 0
        if form.how in ("list", "last"):
            state.size += len(msgspec.json.encode(value))
        if state.size > MOST_BYTES or state.count >= MOST_PARTS:
            self._refuse_more()
        state.count += 1
        if form.how == "count":
            return  # only the number is needed
        state.parts.append(value)
        if form.order:
            sent = getter(form.order)(event.data)
            place = event.place or {}
            state.orders.append(place.get(form.order) if sent is MISSING else sent)

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        del slice_, columns
        form = self.machine.form
        counts = form.how == "count" and not form.order
        return counts and self.get(event.data) is not MISSING

    def fits(self, slice_: Slice, stretch: Stretch) -> bool:
        state: CollectedParts = slice_.memory[self.machine.position]
        return bool(state.count + stretch.count < MOST_PARTS)

    def extend(self, slice_: Slice, stretch: Stretch) -> None:
        slice_.memory[self.machine.position].count += stretch.count
