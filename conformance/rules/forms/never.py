"""Form `never`: an event does not occur; with `until`, it occurs only once the other has.

Its subject is the event itself where it may come, or a candidate where it may not: an event of the
type that has every field which the conditions look at. An event without conditions has none.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple, Self

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import Event, Layer
from conformance.core.excerpts import beginning, redacted
from conformance.rules.about import About, BreachKind, fields_held
from conformance.rules.alias import Alias
from conformance.rules.forms.base import (
    SILENT,
    Act,
    Breach,
    Form,
    Machine,
    Mark,
    Names,
    ReportAct,
    Slice,
    State,
    Step,
    either,
    listed,
)
from conformance.rules.forms.reading import FormReader
from conformance.rules.node import Node
from conformance.rules.paths import MISSING, getter
from conformance.rules.patterns import fields_named

_SHOWN: Final = 60  # characters of a value
_UNSET: Final = {"not": True}
"""A flag that is not set: that it is absent is nothing to report."""


class Never(Form, frozen=True):
    key: ClassVar[str] = "never"
    events: tuple[str, ...]
    after: tuple[str, ...] = ()
    until: tuple[str, ...] = ()
    restates: bool = False  # the event restates what earlier pieces hold

    @classmethod
    def read(cls, reader: FormReader, rule: Node, node: Node) -> Self:
        after, until = (reader.named_events(rule.get(each)) for each in ("after", "until"))
        restates = rule.get("restates")
        is_whole = restates is not None and restates.boolean()
        return cls(reader.named_events(node), after, until, restates=is_whole)

    def lack(self, events: Mapping[str, str]) -> str:
        forbidden = listed(events, self.events)
        if self.after:
            return f"not both {forbidden} and, before it, {listed(events, self.after)}"
        return f"no {forbidden}, and nothing that might have been"

    @property
    def is_ordered(self) -> bool:
        return bool(self.after or self.until)

    def candidates(self, aliases: Mapping[str, Alias]) -> Mapping[str, Alias]:
        named = ((_candidate_name(name), aliases[name]) for name in self.events)
        return {name: _with_fields(name, alias) for name, alias in named if alias.conditions}

    def machine(
        self, aliases: Mapping[str, Alias], knobs: Mapping[str, Any], *, sliced: bool
    ) -> Machine:
        del knobs
        return NeverMachine(aliases, self, sliced=sliced)


def _candidate_name(name: str) -> str:
    """The name of what might have been the event of this name."""
    return f"candidate of {name}"


def _with_fields(name: str, alias: Alias) -> Alias:
    """Events of the type that have the fields which the conditions look at."""
    paths = (each for path, p in alias.conditions for each in (path, *fields_named(p)))
    is_there = {"not": [None, {"absent": True}]}
    conditions = tuple((path, is_there) for path in dict.fromkeys(paths))
    return Alias(name, alias.type, conditions, alias.layer)


class Window(NamedTuple):
    """The state of a slice: the bounds that came, and what came in the current frame.

    The event is forbidden from the frame after `opened` on, or from the beginning if the rule has
    no `after`, until `closed`. `came`: it came where it is allowed; `tested`: a candidate came
    where it is forbidden.
    """

    came: bool = False
    tested: bool = False
    opened: bool = False
    opened_now: bool = False  # in this frame, so that nothing in it comes after
    closed: bool = False
    pending: bool = False  # the event came, and what closes may still come in this frame
    after_now: bool = False  # an `after` came in this frame


class _WindowMarks(Struct):
    """The events that messages speak of."""

    after: Mark | None = None
    occurred: tuple[Event, str] | None = None  # and the name under which it is forbidden


class NeverMachine(Machine):
    """Windows in which an event may not come."""

    def __init__(self, aliases: Mapping[str, Alias], form: Never, *, sliced: bool) -> None:
        super().__init__(aliases, sliced=sliced)
        self._events = frozenset(form.events)
        self._after = frozenset(form.after)
        self._until = frozenset(form.until)
        self._candidates = frozenset(map(_candidate_name, form.events))
        self._unbounded = not (form.after or form.until)
        self._kind = BreachKind.TEXTS if form.restates else BreachKind.EVENT

    def opens(self, names: Names) -> bool:
        # Before what opens the window, a candidate is none.
        return self._unbounded or not names <= self._candidates

    def belongs(self, names: Names) -> bool:
        # What may not come while something is open is often of no slice: the end of all.
        return bool(names & ((self._after | self._until) or self._events))

    def opened_state(self) -> State:
        return Window()

    def fired(self, state: State) -> bool:
        if state is SILENT:
            return False
        return bool(state.tested or (state.came and (state.opened or not self._after)))

    def fired_by(self, layers: Collection[Layer]) -> bool:
        # Of a whole type that may not come at all, nothing else is to be known.
        bare = (self.aliases[name] for name in self._events)
        return self._unbounded and any(not a.conditions and a.layer in layers for a in bare)

    def step(self, state: State, names: Names) -> Step:
        window: Window = state
        acts: list[Act] = []
        if occurring := names & self._events:
            if self._is_forbidding(window):
                if not self._until:
                    return SILENT, (ReportAct(partial(self._forbidden_now, min(occurring))),)
                if not window.closed and not window.pending:
                    window = window._replace(pending=True)
                    acts.append(ReportAct(partial(self._hold_event, min(occurring))))
            if not self._is_forbidding(window) or self._until:
                window = window._replace(came=True)
        if names & self._candidates and self._tests_candidates(window):
            window = window._replace(tested=True)
        if names & self._until and (not self._after or (window.opened and not window.opened_now)):
            window = window._replace(closed=True, pending=False)
            if window.after_now:
                window, acts = self._open_window(window, acts, self._remember_latest)
        if names & self._after:
            window = window._replace(after_now=True)
            window, acts = self._open_window(window, acts, self._remember)
        return window, tuple(acts)

    def _is_forbidding(self, window: Window) -> bool:
        return not self._after or (window.opened and not window.opened_now)

    def _tests_candidates(self, window: Window) -> bool:
        """Whether a candidate is looked at: before an `until` it is too many things."""
        if not self._after:
            return not self._until
        return self._is_forbidding(window) and not window.closed

    def _open_window(
        self, window: Window, acts: list[Act], remember: Any
    ) -> tuple[Window, list[Act]]:
        if not window.opened or window.closed:
            acts = [*acts, ReportAct(remember)]
            window = window._replace(opened=True, opened_now=True, closed=False)
        return window, acts

    def age(self, state: State) -> State:
        if not (state.opened_now or state.after_now):
            return state
        return state._replace(opened_now=False, after_now=False)

    def waits(self, state: State) -> bool:
        return bool(state.pending)

    def settle(self, state: State, *, broken: bool) -> Step:
        del state, broken
        return SILENT, (ReportAct(self._forbidden_before),)

    def _remember(self, slice_: Slice, event: Event) -> None:
        slice_.remembered(self.position, _WindowMarks).after = Mark(event.type, event.number)

    def _remember_latest(self, slice_: Slice, event: Event) -> None:
        del event
        slice_.remembered(self.position, _WindowMarks).after = slice_.last_mark(
            self.position, self._after
        )

    def _hold_event(self, name: str, slice_: Slice, event: Event) -> None:
        slice_.remembered(self.position, _WindowMarks).occurred = (event, name)

    def _forbidden_now(self, name: str, slice_: Slice, event: Event) -> Breach:
        after = slice_.remembered(self.position, _WindowMarks).after
        when = f"came after {after}" if after else "may not occur"
        kind = BreachKind.LATE if after else self._kind
        return self._breach(event, name, when, About(kind, beside=self.types(self._events)), after)

    def _forbidden_before(self, slice_: Slice, event: Event) -> Breach:
        del event
        kept = slice_.remembered(self.position, _WindowMarks)
        assert kept.occurred is not None  # the state waits
        expected = self.describe(self._until)
        about = About(BreachKind.ORDER, lacks=self.types(self._until))
        when = f"came without an earlier {either(expected)}"
        found = self._breach(*kept.occurred, when, about, kept.after)
        return replace(found, expected=expected, number=kept.occurred[0].number)

    def _breach(
        self, event: Event, name: str, when: str, about: About, after: Mark | None
    ) -> Breach:
        alias = self.aliases[name]
        fields = _fields_looked_at(event, alias)
        about = replace(about, type=event.type, fields=fields_held(fields))
        message = f"{alias.shown_as or event.type + _fields_shown(fields)} {when}"
        return Breach(message, (), event.type, after, about=about)


def _fields_looked_at(event: Event, alias: Alias) -> dict[str, Any]:
    """The fields that the alias looks at, with what they hold."""
    paths: list[str] = []
    for path, pattern in alias.conditions:
        if pattern != _UNSET or getter(path)(event.data) is not MISSING:
            paths.extend([path, *fields_named(pattern)])
    return {path: getter(path)(event.data) for path in paths}


def _fields_shown(fields: Mapping[str, Any]) -> str:
    """As a message spells them: ` with reasoning 11, output 10`."""
    views = [f"{path} {_value_view(value)}" for path, value in fields.items()]
    return f" with {', '.join(views)}" if views else ""


def _value_view(value: object) -> str:
    if value is MISSING:
        return "absent"
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return redacted(text) if len(text) <= _SHOWN else beginning(text, _SHOWN - 3, "...")
