"""Rules made ready for one profile: immutable once built, shared by exchanges and threads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Struct

from conformance.core.events import SEMANTIC_EVENTS, Event, Layer
from conformance.rules.alias import Alias
from conformance.rules.applies import Evidence, Terms, profile_excludes, terms
from conformance.rules.forms.base import (
    FIRED,
    OPEN,
    Machine,
    Names,
    State,
    Step,
    Violation,
)
from conformance.rules.forms.compare import Compare
from conformance.rules.forms.grammar import Grammar
from conformance.rules.model import Rule
from conformance.rules.paths import Getter, getter
from conformance.rules.patterns import RequestValues, Test, compile_value
from conformance.rules.verdicts import Verdict


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """What came of one rule: verdict, the reason where it is neither PASS nor FAIL, violations."""

    rule: Rule
    verdict: Verdict
    reason: str = ""
    violations: tuple[Violation, ...] = ()


class Outcomes(tuple[Outcome, ...]):  # noqa: SLOT001  # caches derived values as attributes
    """What came of all rules, in their order; verdicts and reasons are found by rule id."""

    @cached_property
    def verdicts(self) -> Mapping[str, Verdict]:
        return {each.rule.id: each.verdict for each in self}

    @cached_property
    def reasons(self) -> Mapping[str, str]:
        """Why a verdict is neither PASS nor FAIL."""
        return {each.rule.id: each.reason for each in self if each.reason}

    def overruled(self, others: Mapping[int, Outcome]) -> Outcomes:
        """A copy with other outcomes for some rules, by their numbers.

        Cached values are copied too: of hundreds of rules hardly any gets another outcome.
        """
        if not others:
            return self
        every = list(self)
        for number, outcome in others.items():
            every[number] = outcome
        made = Outcomes(every)
        changed = {each.rule.id: each.verdict for each in others.values()}
        made.verdicts = {**self.verdicts, **changed}
        if not any(each.reason for each in others.values()):  # else they have their own order
            made.reasons = reasons = dict(self.reasons)
            for rule in changed:
                reasons.pop(rule, None)
        return made


class Condition(Struct, frozen=True):
    """The value required at a path of an event."""

    path: str
    pattern: Any
    get: Getter
    test: Test

    def holds(self, data: Mapping[str, Any], context: Any) -> bool:
        return self.test(self.get(data), data, context)


class NamedEvent(Struct, frozen=True):
    """One name of one rule, compiled: which types it may have and which conditions must hold.

    `needed` is what the form needs in addition, None if nothing.
    """

    name: str
    alias: Alias
    is_type: Callable[[str, RequestValues], bool]
    conditions: tuple[Condition, ...]
    needed: Condition | None
    needs_clock: bool

    def holds(self, event: Event, context: Any) -> bool:
        """Whether an event of the right type answers to the name."""
        if self.needs_clock and context.ms is None:
            return False
        return all(each.holds(event.data, context) for each in self.all_conditions())

    def all_conditions(self) -> tuple[Condition, ...]:
        """Those of the name, and what the form needs."""
        return self.conditions if self.needed is None else (*self.conditions, self.needed)


class Listener(Struct, frozen=True):
    """A listener to events: a machine, and the names under which it gets them."""

    names: tuple[NamedEvent, ...]
    machine: Machine


class SubjectMachine(Machine):
    """Fires with the first event of its name, in any slice of the exchange."""

    def begins(self) -> State | None:
        return OPEN

    def step(self, state: State, names: Names) -> Step:
        del state, names
        return FIRED, ()


class CompiledRule(Listener, frozen=True, kw_only=True):
    """A rule made ready for one profile.

    `excluded` is its outcome where the profile rules it out, `vacuous` where its subject was not
    there, `unplaced` where all that came lacks what says of which slice it is. `subject` are the
    events that have to come, where the rule names them.
    """

    rule: Rule
    subject: tuple[Listener, ...]
    terms: Terms
    slice: tuple[str, ...]
    excluded: Outcome | None
    vacuous: Outcome
    unplaced: Outcome
    passed: Outcome

    @property
    def subject_has_place(self) -> bool:
        """Whether the rule speaks only of events that say where they belong, as bodies do not."""
        named = [{path for path, _ in each.conditions} for each in self.rule.subject.values()]
        return bool(named) and all(each.intersection(self.slice) for each in named)

    @property
    def of_connection(self) -> bool:
        """Whether its slices go on over all answers; a comparison takes all of an exchange."""
        return self.rule.scope == "connection" or isinstance(self.rule.form, Compare)

    def refusal(self, evidence: Evidence, *, is_silenced: bool, overflow: bool) -> Outcome | None:
        """The outcome of a rule that does not apply to an exchange; valid once that is over."""
        if self.excluded is not None:
            return self.excluded
        refused = self.terms.refuses(evidence)
        if refused is not None:
            return Outcome(self.rule, *refused)
        if is_silenced or isinstance(self.rule.form, Compare):
            why = "it is judged over several exchanges"
            return Outcome(self.rule, Verdict.NOT_APPLICABLE, why)
        if overflow and any(named.alias.layer == "semantic" for named in self.names):
            why = "the stream opens more than its dialect follows"
            return Outcome(self.rule, Verdict.ERROR, why)
        return None

    def quiet_outcome(
        self, *, has_fired: bool, is_unplaced: bool, layers: Collection[Layer]
    ) -> Outcome:
        """The outcome of a rule that has a say and found nothing; `layers` had events."""
        if not self.subject:
            has_fired = has_fired or self.machine.fired_by(layers)
        if has_fired:
            return self.passed
        return self.unplaced if is_unplaced and not self.subject_has_place else self.vacuous


def compile_rule(rule: Rule, knobs: Mapping[str, Any]) -> CompiledRule:
    """Raises PatternError where a knob is missing or does not fit."""
    # Comparisons have no slices: they are made of what a whole exchange brings.
    slice_ = () if isinstance(rule.form, Compare) else rule.slice
    machine = rule.form.machine(rule.aliases, knobs, sliced=bool(slice_))
    aliases = {**rule.aliases, **({} if rule.subject else rule.form.candidates(rule.aliases))}
    excluded = profile_excludes(rule, knobs)
    return CompiledRule(
        names=tuple(_named_event(alias, machine, knobs) for alias in aliases.values()),
        machine=machine,
        rule=rule,
        subject=tuple(_subject_listener(alias, knobs) for alias in rule.subject.values()),
        terms=terms(rule, knobs),
        slice=slice_,
        excluded=Outcome(rule, Verdict.NOT_APPLICABLE, excluded) if excluded else None,
        vacuous=Outcome(rule, Verdict.VACUOUS, f"never fired: {_never_fired(rule)}"),
        unplaced=Outcome(rule, Verdict.INCONCLUSIVE, _unplaced_text(slice_)),
        passed=Outcome(rule, Verdict.PASS),
    )


def _never_fired(rule: Rule) -> str:
    """What was missing if the rule never fired."""
    if rule.subject:
        return f"no {' / '.join(sorted({each.describe() for each in rule.subject.values()}))}"
    is_word = isinstance(rule.form, Grammar)
    aliases = rule.aliases.items()
    return rule.form.lack(
        {name: a.describe() for name, a in aliases if not is_word or _may_open(a, rule.slice)}
    )


def _may_open(alias: Alias, slice_: Sequence[str]) -> bool:
    """Whether such an event may have all slice fields; of the wire's, that is not known."""
    if alias.layer != "semantic":
        return True
    fields = [SEMANTIC_EVENTS.get(kind, frozenset()) | {"choice"} for kind in alias.types]
    return all(set(slice_) <= each for each in fields)


def _unplaced_text(paths: Sequence[str]) -> str:
    return f"not placed: what came lacks {' or '.join(paths)}"


def _subject_listener(alias: Alias, knobs: Mapping[str, Any]) -> Listener:
    machine = SubjectMachine({alias.name: alias}, sliced=False)
    return Listener((_named_event(alias, machine, knobs),), machine)


def _named_event(alias: Alias, machine: Machine, knobs: Mapping[str, Any]) -> NamedEvent:
    needed = machine.needs(alias.name)
    return NamedEvent(
        alias.name,
        alias,
        _type_test(alias, knobs),
        tuple(_path_condition(path, pattern, knobs) for path, pattern in alias.conditions),
        _path_condition(*needed, knobs) if needed is not None else None,
        machine.needs_clock,
    )


def _path_condition(path: str, pattern: Any, knobs: Mapping[str, Any]) -> Condition:
    return Condition(path, pattern, getter(path), compile_value(pattern, knobs))


def _type_test(alias: Alias, knobs: Mapping[str, Any]) -> Callable[[str, RequestValues], bool]:
    if types := frozenset(alias.types):
        return lambda kind, _values: kind in types
    test = compile_value(alias.type, knobs)
    return lambda kind, circumstances: test(kind, {}, circumstances)
