"""What an answer, or a turn of a request, brings to rules that compare the two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct

from conformance.core.events import Event
from conformance.rules.applies import Evidence
from conformance.rules.compiled import CompiledRule, NamedEvent
from conformance.rules.forms.base import CapReachedError, Context
from conformance.rules.forms.compare import Compare
from conformance.rules.forms.gathered_side import GatheredSide, Side
from conformance.rules.rule_set import RuleSet

_MOST_SETS: Final = 128  # of rules, whose linked ones are remembered
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
    def own_types(self) -> frozenset[str]:
        """The types of the events that it compares of the later exchange's own answer."""
        side = self.request_side
        names = self.compiled.names if side.in_answer else ()
        return frozenset(t for each in names if each.name in side.paths for t in each.alias.types)

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


class LinkGatherer:
    """Takes events at one end of a link for all rules; `ends` has what came, by rule id."""

    def __init__(self, rules: Sequence[LinkedRule], end: LinkEnd, evidence: Evidence) -> None:
        self.ends = {each.id: GatheredEnd(GatheredSide(each.side(end))) for each in rules}
        self._end = end
        self._context = Context(evidence, None)
        self._heard: dict[str, list[_Heard]] = {}
        for each in rules:
            for named in each.compiled.names:
                if named.name in each.side(end).paths:
                    for kind in named.alias.types:
                        self._heard.setdefault(kind, []).append(_Heard(self.ends[each.id], named))
        self.types: Final = frozenset(self._heard)

    def take(self, events: Iterable[Event]) -> None:
        """Adds what the rules want of these events; of an answer with choices, of the first."""
        for event in events:
            if self._end == "answer" and event.data.get("choice"):
                continue
            for heard in self._heard.get(event.type, ()):
                named = heard.named
                if named.alias.layer == event.layer and named.holds(event, self._context):
                    heard.end.take(event, named.name)
