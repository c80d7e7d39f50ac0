"""Form `response`: every `when` is answered by a `then`, at the latest before `before`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, NamedTuple, Self

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import Event
from conformance.rules.about import About, BreachKind
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
    Unclear,
    either,
    listed,
)
from conformance.rules.forms.reading import FormReader
from conformance.rules.node import Node

_START: Final = Mark("start of stream", 0)


class Answer(Form, frozen=True):
    """`opens` is `when`, which demands an answer once per slice; without it each slice demands one.

    `before` are the bounds; without one, the end of the stream is the bound.
    """

    key: ClassVar[str] = "response"
    then: tuple[str, ...]
    when: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()

    @classmethod
    def read(cls, reader: FormReader, rule: Node, node: Node) -> Self:
        del rule
        entries = node.mapping({"when", "then", "before", "opens"})
        then = reader.named_events(node.required("then"))
        if "opens" in entries and "when" in entries:
            raise node.key("opens").error("opens replaces when: give one of them")
        named = (reader.named_events(entries.get(key)) for key in ("when", "before", "opens"))
        return cls(then, *named)

    def lack(self, events: Mapping[str, str]) -> str:
        return f"no {listed(events, self.when or self.opens or self.then)}"

    @property
    def is_ordered(self) -> bool:
        return bool(self.when or self.before)

    def machine(
        self, aliases: Mapping[str, Alias], knobs: Mapping[str, Any], *, sliced: bool
    ) -> Machine:
        del knobs
        return AnswerMachine(aliases, self, sliced=sliced)


class Debt(NamedTuple):
    """What a slice owes, has answered, and what bound it met; `now` is this very frame."""

    fired: bool = False
    owed: bool = False
    owed_now: bool = False
    answered: bool = False
    answered_now: bool = False
    bound: bool = False


class _DebtMarks(Struct):
    """The events that messages speak of."""

    owed: Mark = _START
    bound: Mark | None = None


class AnswerMachine(Machine):
    """Debts, opened by one event and paid by another."""

    def __init__(self, aliases: Mapping[str, Alias], form: Answer, *, sliced: bool) -> None:
        super().__init__(aliases, sliced=sliced)
        self._when = frozenset(form.when)
        self._then = frozenset(form.then)
        self._before = frozenset(form.before)
        self._opens = frozenset(form.opens)
        self._asking = self._when or self._opens
        self.hears_all = sliced and not self._asking

    def begins(self) -> State | None:
        is_owed = not self.sliced and not self._asking
        return Debt(fired=True, owed=True, owed_now=True) if is_owed else None

    def opens(self, names: Names) -> bool:
        # An answer opens too: it may be in the same frame, ahead of what it answers.
        return self.hears_all or bool(names & (self._opens | self._when | self._then))

    def belongs(self, names: Names) -> bool:
        return bool(names & (self._when or self._opens))

    def opened_state(self) -> State:
        return Debt()

    def fired(self, state: State) -> bool:
        return state is not SILENT and bool(state.fired)

    def step(self, state: State, names: Names) -> Step:
        debt: Debt = state
        acts: list[Act] = []
        was_owed = debt.owed
        if not self._asking or names & self._asking:
            debt = debt._replace(fired=True)
            is_met = debt.answered_now if self._when else debt.answered
            if not is_met and not debt.owed:
                debt = debt._replace(owed=True, owed_now=True)
        if names & self._then:
            debt = debt._replace(owed=False, owed_now=False, answered=True, answered_now=True)
        if debt.owed and not was_owed:
            acts.append(ReportAct(self._owe_response))
        if names & self._before and debt.owed and not debt.owed_now:
            if not debt.bound:
                acts.append(ReportAct(self._bind_response))
            debt = debt._replace(bound=True)
        return debt, tuple(acts)

    def age(self, state: State) -> State:
        if not (state.owed_now or state.answered_now):
            return state
        return state._replace(owed_now=False, answered_now=False)

    def waits(self, state: State) -> bool:
        return bool(state.bound)

    def settle(self, state: State, *, broken: bool) -> Step:
        if not state.owed:
            return state._replace(bound=False), ()
        if broken:
            return state._replace(bound=False, owed=False), (ReportAct(self._unclear_response),)
        return SILENT, (ReportAct(self._unanswered_breach),)

    def close(self, state: State) -> tuple[Act, ...]:
        return (ReportAct(self._never_answered),) if state.owed else ()

    def _owe_response(self, slice_: Slice, event: Event) -> None:
        slice_.remembered(self.position, _DebtMarks).owed = Mark(event.type, event.number)

    def _bind_response(self, slice_: Slice, event: Event) -> None:
        slice_.remembered(self.position, _DebtMarks).bound = Mark(event.type, event.number)

    def _unanswered_breach(self, slice_: Slice, event: Event) -> Breach:
        del event
        bound = slice_.remembered(self.position, _DebtMarks).bound
        assert bound is not None  # the state waits
        return replace(self._breach(slice_, f" before {bound}", bound.type), number=bound.number)

    def _unclear_response(self, slice_: Slice, event: Event) -> Unclear:
        return Unclear(self._unanswered_breach(slice_, event).message)

    def _never_answered(self, slice_: Slice, event: Event) -> Breach:
        return replace(self._breach(slice_, f", got {event.type}", ""), got=event.type, owed=True)

    def _breach(self, slice_: Slice, trail: str, came: str) -> Breach:
        expected, owed = (
            self.describe(self._then),
            slice_.remembered(self.position, _DebtMarks).owed,
        )
        after = owed if owed.number else None
        message = f"expected {either(expected)}{f' after {after}' if after else ''}{trail}"
        about = About(BreachKind.ORDER, came, self.types(self._then))
        return Breach(message, expected, came, after, about=about)
