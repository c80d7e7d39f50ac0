"""The rules of one profile, compiled: groups by slice, and the dispatch of each type of event.

Immutable except for caches; shared by exchanges and threads.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.core.events import Event, Layer
from conformance.rules.applies import Evidence, EvidenceKey
from conformance.rules.compiled import CompiledRule, Listener, Outcomes, compile_rule
from conformance.rules.dispatch import EventRules, PlacedListener
from conformance.rules.forms.base import Context, Machine
from conformance.rules.forms.compare import CompareMachine
from conformance.rules.group import Group, JointState
from conformance.rules.model import Rule

MOST_TYPES: Final = 1024
MOST_REMEMBERED: Final = 1024
MOST_OUTCOMES: Final = 256  # one is as large as the rules are many, with verdicts and reasons

# States that slices begin with, by group, and those of groups that have one slice only.
_Beginning = tuple[tuple[JointState, ...], tuple[tuple[Group, JointState], ...]]


class QuietEnd(NamedTuple):
    """The final state of an exchange, besides its findings.

    `silenced` are numbers of rules. `fired` has a mask of positions for each group, and so has
    `unplaced`: rules with an event that lacks a field of their slice. `layers` are those that had
    events; `overflow`: the stream opened more parts than its dialect follows.
    """

    silenced: frozenset[int]
    fired: tuple[int, ...]
    unplaced: tuple[int, ...]
    layers: frozenset[Layer]
    overflow: bool


class RuleSet:
    """Rules compiled with a profile's knobs; `promises` are among them, by name.

    `listeners` are the rules, then one listener for each subject that rules name.
    """

    def __init__(self, rules: Sequence[Rule], knobs: Mapping[str, Any]) -> None:
        self.knobs = knobs
        self.rules = tuple(compile_rule(rule, knobs) for rule in rules)
        self._subjects = _number_subjects(self.rules)
        subjects = {number: one for each in self._subjects.values() for number, one in each}
        self.listeners: tuple[Listener, ...] = (
            *self.rules,
            *(subjects[number] for number in sorted(subjects)),
        )
        self.of_connection = _numbers_of_connection(self.rules, self._subjects)
        self.ids_of_connection = frozenset(
            rule.rule.id for rule in self.rules if rule.of_connection
        )
        self.groups = _group_listeners(self.rules, self.listeners, self.of_connection)
        self._placed: list[PlacedListener] = [
            (self.listeners[number], group, position)
            for group in self.groups
            for position, number in enumerate(group.numbers)
            if not _is_linked(group.machines[position])
        ]
        self.types: dict[tuple[Layer, str], EventRules] = {}
        self.comparisons = [
            (number, group, position)
            for group in self.groups
            for position, number in enumerate(group.numbers)
            if isinstance(group.machines[position], CompareMachine)
        ]
        self._beginnings: dict[frozenset[int], _Beginning] = {}
        self._request_key = EvidenceKey([rule.terms for rule in self.rules])
        self._silenced: dict[object, frozenset[int]] = {}
        self._outcomes: dict[object, Outcomes] = {}

    def event_rules(self, event: Event, context: Context) -> EventRules:
        """What the event's type means."""
        key = (event.layer, event.type)
        found = self.types.get(key)
        if found is None:
            found = EventRules(*key, self._placed, context)
            if len(self.types) < MOST_TYPES:
                found = self.types.setdefault(key, found)
        return found

    def silenced(self, evidence: Evidence) -> frozenset[int]:
        """Numbers of the rules that certainly have no say over an exchange."""
        key = self._request_key.key(evidence)
        found = self._silenced.get(key) if key is not None else None
        if found is None:
            found = frozenset(
                number
                for number, rule in enumerate(self.rules)
                if rule.excluded is not None or rule.terms.excludes_early(evidence)
            )
            if key is not None and len(self._silenced) < MOST_REMEMBERED:
                self._silenced[key] = found
        return found

    def opening(self, silenced: frozenset[int]) -> Sequence[JointState]:
        """What a slice of each group begins with, before a rule opens it."""
        return self._begin_streams(silenced)[0]

    def begun(self, silenced: frozenset[int]) -> Sequence[tuple[Group, JointState]]:
        """Groups without slice fields, with the state of their one slice before any event."""
        return self._begin_streams(silenced)[1]

    def _begin_streams(self, silenced: frozenset[int]) -> _Beginning:
        found = self._beginnings.get(silenced)
        if found is None:
            opening = tuple(group.opening(silenced) for group in self.groups)
            pairs = zip(self.groups, opening, strict=True)
            begun = tuple((group, group.begun(state)) for group, state in pairs if not group.paths)
            found = opening, begun
            if len(self._beginnings) < MOST_REMEMBERED:
                self._beginnings[silenced] = found
        return found

    def outcomes(self, evidence: Evidence, end: QuietEnd) -> Outcomes:
        """What comes of every rule that has found nothing; ask when the exchange is over."""
        key = self._request_key.key(evidence)
        found = self._outcomes.get((key, end)) if key is not None else None
        if found is None:
            found = self._outcomes_anew(evidence, end)
            if len(self._outcomes) >= MOST_OUTCOMES:
                self._outcomes.clear()
            if key is not None:
                self._outcomes[key, end] = found
        return found

    def _outcomes_anew(self, evidence: Evidence, end: QuietEnd) -> Outcomes:
        firing, unplaced = self._numbers_of(end.fired), self._numbers_of(end.unplaced)
        return Outcomes(
            rule.refusal(evidence, is_silenced=number in end.silenced, overflow=end.overflow)
            or rule.quiet_outcome(
                has_fired=self._has_fired(number, firing),
                is_unplaced=number in unplaced,
                layers=end.layers,
            )
            for number, rule in enumerate(self.rules)
        )

    def _numbers_of(self, masks: Sequence[int]) -> set[int]:
        """The numbers of rules that are set in a mask per group."""
        return {
            number
            for group, mask in zip(self.groups, masks, strict=True)
            for position, number in enumerate(group.numbers)
            if mask >> position & 1
        }

    def _has_fired(self, number: int, firing: Collection[int]) -> bool:
        if subjects := self._subjects.get(number):
            return any(subject in firing for subject, _ in subjects)
        return number in firing


def _is_linked(machine: Machine) -> bool:
    """Whether a rule needs no events of an exchange: it compares linked exchanges later."""
    return isinstance(machine, CompareMachine) and machine.form.is_linked


def _number_subjects(
    rules: Sequence[CompiledRule],
) -> Mapping[int, Sequence[tuple[int, Listener]]]:
    """The listeners to each rule's subject, numbered after all rules."""
    numbers: dict[tuple[bool, str], tuple[int, Listener]] = {}
    found: dict[int, list[tuple[int, Listener]]] = {}
    for number, rule in enumerate(rules):
        if rule.excluded is None:
            for listener in rule.subject:
                alias = listener.names[0].alias
                alike = rule.of_connection, repr((alias.layer, alias.type, alias.conditions))
                placed = numbers.setdefault(alike, (len(rules) + len(numbers), listener))
                found.setdefault(number, []).append(placed)
    return found


def _numbers_of_connection(
    rules: Sequence[CompiledRule], subjects: Mapping[int, Sequence[tuple[int, Listener]]]
) -> frozenset[int]:
    """Rules whose slices span all answers, and the listeners to their subjects."""
    kept = [number for number, rule in enumerate(rules) if rule.of_connection]
    subjects_of = (number for rule in kept for number, _ in subjects.get(rule, ()))
    return frozenset({*kept, *subjects_of})


def _group_listeners(
    rules: Sequence[CompiledRule], listeners: Sequence[Listener], of_connection: frozenset[int]
) -> tuple[Group, ...]:
    """Rules of the same slices; apart from them those whose many slices outlive an answer."""
    numbers: dict[tuple[bool, tuple[str, ...]], list[int]] = {}
    for number, rule in enumerate(rules):
        if rule.excluded is None:
            stays = rule.of_connection and bool(rule.slice)
            numbers.setdefault((stays, rule.slice), []).append(number)
    # Subjects have no slices.
    if subjects := range(len(rules), len(listeners)):
        numbers.setdefault((False, ()), []).extend(subjects)
    return tuple(
        Group(at, paths, [listeners[number].machine for number in those], those, of_connection)
        for at, ((_, paths), those) in enumerate(numbers.items())
    )
