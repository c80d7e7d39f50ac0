"""What an answer, or a turn of a request, brings to rules that compare the two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import Event
from conformance.rules.applies import Evidence
from conformance.rules.compiled import CompiledRule, NamedEvent
from conformance.rules.forms.base import CapReachedError, Context
from conformance.rules.forms.compare import Compare
from conformance.rules.forms.gathered_side import GatheredSide, Side
from conformance.rules.rule_set import RuleSet

_MOST_SETS: Final = 128  # of rules, whose linked ones are remembered
_MOST_OWN: Final = 65_536  # events of one answer
_NAME: Final = "id"  # by which an event restates what an earlier answer has
LinkEnd = Literal["answer", "request"]


class LinkedRule(Struct, frozen=True):
    """A rule that compares an answer with the request that brings it back."""

    compiled: CompiledRule
    form: Compare

    @property
    def id(self) -> str:
        return self.compiled.rule.id

    @property
    def types(self) -> frozenset[str]:
        """The types of the events that it compares."""
        return frozenset(each for named in self.compiled.names for each in named.alias.types)

    @property
    def request_side(self) -> Side:
        return self.form.left if self.form.left.link == "request" else self.form.right

    @property
    def is_of_own_answer(self) -> bool:
        """Whether it compares earlier answers with the answer to the later request."""
        return self.request_side.in_answer

    def own_fields(self) -> Iterator[tuple[str, str]]:
        """The types of the events that it compares of that answer, with the fields it reads."""
        side = self.request_side
        for named in self.compiled.names if side.in_answer else ():
            if named.name in side.paths:
                paths = side.paths[named.name], *(path for path, _ in named.alias.conditions)
                for kind in named.alias.types:
                    yield from ((kind, path.partition(".")[0]) for path in paths)

    def side(self, end: LinkEnd) -> Side:
        """The side of the comparison at one end of the link."""
        return self.form.left if self.form.left.link == end else self.form.right


@lru_cache(maxsize=_MOST_SETS)
def linked_rules(rules: RuleSet) -> tuple[LinkedRule, ...]:
    """The rules of a profile that compare linked exchanges, unless the profile rules them out."""
    found = ((each, each.rule.form) for each in rules.rules if each.excluded is None)
    return tuple(
        LinkedRule(each, form)
        for each, form in found
        if isinstance(form, Compare) and form.is_linked
    )


class GatheredEnd(Struct):
    """What one rule takes at one end: the value, growing, the last event of it, a cap it met."""

    taken: GatheredSide
    event: int = 0
    type: str = ""
    error: str = ""

    def take(self, event: Event, name: str) -> None:
        before = len(self.taken.parts)
        try:
            self.taken.add_event(event, name)
        except CapReachedError as err:
            self.error = str(err)
        if len(self.taken.parts) > before:
            self.event, self.type = event.number, event.type


class _Heard(Struct, frozen=True):
    end: GatheredEnd
    named: NamedEvent


class OwnEvents:
    """Events of an answer that rules compare with earlier ones, with the fields that they read."""

    def __init__(self, rules: Sequence[LinkedRule]) -> None:
        self.events: list[Event] = []
        self.is_cut = False
        self._fields: dict[str, set[str]] = {}
        for kind, name in (each for rule in rules for each in rule.own_fields()):
            self._fields.setdefault(kind, {_NAME}).add(name)

    def take(self, event: Event) -> None:
        names = self._fields.get(event.type)
        if names is None:
            return
        self.is_cut = len(self.events) >= _MOST_OWN
        if not self.is_cut:
            data = {name: event.data[name] for name in names if name in event.data}
            self.events.append(replace(event, data=data))


class LinkGatherer:
    """Takes events at one end of a link for all rules; `ends` has what came, by rule id."""

    def __init__(self, rules: Sequence[LinkedRule], end: LinkEnd, evidence: Evidence) -> None:
        self.ends = {each.id: GatheredEnd(GatheredSide(each.side(end))) for each in rules}
        self._end = end
        self._own_rules = tuple(each.id for each in rules if each.is_of_own_answer)
        self._context = Context(evidence, None)
        self._heard: dict[str, list[_Heard]] = {}
        for each in rules:
            for named in each.compiled.names:
                if named.name in each.side(end).paths:
                    for kind in named.alias.types:
                        self._heard.setdefault(kind, []).append(_Heard(self.ends[each.id], named))
        self.types: Final = frozenset(self._heard)

    def take_own(self, own: OwnEvents, events: Iterable[Event]) -> None:
        """Adds those of the events of the later exchange's own answer."""
        self.take(events)
        for rule in self._own_rules if own.is_cut else ():
            self.ends[rule].error = f"the answer has more than {_MOST_OWN} events to compare"

    def take(self, events: Iterable[Event]) -> None:
        """Adds what the rules want of these events; of an answer with choices, of the first."""
        for event in events:
            if self._end == "answer" and event.data.get("choice"):
                continue
            for heard in self._heard.get(event.type, ()):
                named = heard.named
                if named.alias.layer == event.layer and named.holds(event, self._context):
                    heard.end.take(event, named.name)
