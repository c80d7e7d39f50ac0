"""The judge: events of one exchange in, verdicts and violations out.

For each slice it holds the joint state of the rules that share it (`group`); an event is one step
of that automaton, and what the step asks to be done is done (`forms.base.Act`).

Rule 1: a rule that fails, by a cap or by a fault of ours, ends with ERROR; the others go on.
Rule 2: work is linear. Many slices times many events that lack a slice field would not be: beyond
FREE_VISITS slices such visits are counted, and capped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from conformance.core.events import Ending, Event, Layer
from conformance.rules.applies import Evidence
from conformance.rules.compiled import Outcome
from conformance.rules.forms.base import (
    SILENT,
    Act,
    Breach,
    Key,
    Letter,
    Machine,
    Slice,
    Unclear,
    Violation,
    failure_text,
)
from conformance.rules.forms.compare import BothSides, CompareMachine
from conformance.rules.group import Deed, Group, JointState
from conformance.rules.model import Rule
from conformance.rules.rule_set import RuleSet
from conformance.rules.verdicts import Verdict

MOST_SLICES: Final = 65_536
MOST_VISITS: Final = 1_000_000
FREE_VISITS: Final = 16

_BROKEN: Final = "one of the compared streams was broken"
_OPEN_VERDICTS: Final = frozenset(
    {Verdict.PASS, Verdict.VACUOUS, Verdict.INCONCLUSIVE, Verdict.FAIL}
)

# What repeats with an event: slices and the acts in them, and slices that hear a letter.
Repeating = tuple[list[tuple[Slice, int, Act]], list[tuple[Slice, Letter]]]


class Judge:
    """Watches one exchange. Feed it every event in order; call `settle` after each frame."""

    def __init__(self, rules: RuleSet, evidence: Evidence) -> None:
        self.rules = rules
        self.evidence = evidence
        self.broken = False
        self.whole = False
        self.overflow = False
        self.layers: set[Layer] = set()
        self.declared = evidence.declared
        self.last = 0
        self.ms: float | None = None
        self.spent: dict[Machine, int] = {}
        self.fresh: list[tuple[Rule, Violation]] = []
        self._silenced = rules.silenced(evidence)
        self._errors: dict[int, str] = {}
        self._violations: dict[int, list[Violation]] = {}
        self._unclear: dict[int, str] = {}
        self._order = 0  # running number of the event
        self._opened: dict[int, int] = {}  # slices by rule
        self._visits: dict[int, int] = {}
        self._waiting: list[tuple[Group, Slice]] = []
        self._opening = [group.opening(self._silenced) for group in rules.groups]
        self._slices: list[dict[Key, Slice]] = [{} for _ in rules.groups]
        for group, state in zip(rules.groups, self._opening, strict=True):
            if not group.paths:
                self._slices[group.number][()] = self._begin(group, state)

    def _begin(self, group: Group, opening: JointState) -> Slice:
        """The only slice of rules that have no slice fields."""
        begun = group.begun(opening)
        place = Slice((), begun, len(group.machines))
        for position, part in enumerate(begun.parts):
            if part is not None and part is not SILENT:
                place.memory[position] = group.machines[position].memory()
        return place

    def asked(self, path: str) -> Any:
        """Value of a request path, or of the response's echo of it, or MISSING."""
        return self.evidence.asked(path)

    def chosen(self, path: str) -> Any:
        """Value of what the user of a client chose, or MISSING."""
        return self.evidence.chosen(path)

    def read(self, event: Event) -> None:
        """Hands an event to every rule that it concerns."""
        self.last = event.number
        self.layers.add(event.layer)
        self._order += 1
        rules = self.rules.event_rules(event, self)
        self.broken = self.broken or rules.breaks
        self.overflow = self.overflow or rules.overflows
        try:
            heard = rules.heard(event, self)
        except Exception:  # noqa: BLE001  # a value may nest too deep to be compared
            heard, failed = rules.heard_one_by_one(event, self)
            for group, position, text in failed:
                self._fail(group, position, text)
        for group, letter in heard:
            key = group.key(event.data) if group.paths else ()
            slices = self._slices[group.number]
            place = slices.get(key)
            if place is not None:
                self._hear(group, place, letter, event, opens=True)
            elif None in key:
                for each in self._agreeing(group, key, letter):
                    self._hear(group, each, letter, event, opens=False)
            else:
                place = Slice(key, self._opening[group.number], len(group.machines))
                if group.step(place.state, letter, ages=False, opens=True).opened:
                    slices[key] = place
                    self._hear(group, place, letter, event, opens=True)

    def _hear(
        self, group: Group, place: Slice, letter: Letter, event: Event, *, opens: bool
    ) -> None:
        step = group.step(place.state, letter, ages=place.frame != event.number, opens=opens)
        place.state = step.state
        place.frame = event.number
        for position in step.opened:
            self._open(group, place, position)
        for position, text in step.failed:
            self._fail(group, position, text)
        if step.deeds:
            self._perform(group, place, step.deeds, event)
        if letter.code < 0:
            _forget_alike(place.heard, letter)
        place.heard[letter] = (self._order, event.number, event.type)
        if place.state.waits:
            self._waiting.append((group, place))

    def _agreeing(self, group: Group, key: Key, letter: Letter) -> Iterator[Slice]:
        """The slices that an event may belong to which lacks some slice fields."""
        slices = self._slices[group.number]
        if len(slices) > FREE_VISITS:
            self._count_visits(group, letter)
        for each in list(slices.values()):
            pairs = zip(key, each.key, strict=True)
            if all(part is None or part == whole for part, whole in pairs):
                yield each

    def _count_visits(self, group: Group, letter: Letter) -> None:
        for position, number in enumerate(group.numbers):
            opened = self._opened.get(number, 0)
            if letter.names[position] is None or opened <= FREE_VISITS:
                continue
            self._visits[number] = self._visits.get(number, 0) + opened
            if self._visits[number] > MOST_VISITS and number not in self._errors:
                text = "too many events lack a slice field while many slices are open"
                self._fail(group, position, text)

    def _open(self, group: Group, place: Slice, position: int) -> None:
        number = group.numbers[position]
        self._opened[number] = self._opened.get(number, 0) + 1
        if self._opened[number] > MOST_SLICES:
            self._fail(group, position, f"more than {MOST_SLICES} slices")
        place.opened[position] = self._order
        place.memory[position] = group.machines[position].memory()

    def _perform(self, group: Group, place: Slice, deeds: Sequence[Deed], event: Event) -> None:
        stopped: list[int] = []
        for position, perform, _ in deeds:
            if position in stopped:
                continue
            try:
                report = perform(place, event, self)
            except Exception as err:  # noqa: BLE001  # one rule must not take the others along
                self._fail(group, position, failure_text(err))
                stopped.append(position)
                continue
            if report is not None and self._report(group, place, position, report, event):
                stopped.append(position)

    def _report(self, group: Group, place: Slice, position: int, report: Any, event: Event) -> bool:
        """Takes what an act found; True where the slice is silent from here on."""
        number = group.numbers[position]
        if number in self._errors:
            return True
        if isinstance(report, Unclear) or (
            isinstance(report, Breach) and report.owed and not self.whole
        ):
            self._unclear.setdefault(number, report.message)
            return False
        if not isinstance(report, Breach):
            place.state = group.replaced(place.state, position, report)
            return False
        rule = self.rules.rules[number].rule
        violation = Violation(
            event.number if report.number is None else report.number,
            dict(zip(rule.slice, place.key, strict=False)),
            report.expected,
            report.got,
            str(report.after or ""),
            report.message,
        )
        self._violations.setdefault(number, []).append(violation)
        self.fresh.append((rule, violation))
        place.state = group.replaced(place.state, position, SILENT)
        return True

    def _fail(self, group: Group, position: int, text: str) -> None:
        """Ends a rule with ERROR: it is asked nothing more, and keeps nothing."""
        number = group.numbers[position]
        self._errors.setdefault(number, text)
        opening = self._opening[group.number]
        self._opening[group.number] = group.replaced(opening, position, SILENT)
        for place in self._slices[group.number].values():
            place.state = group.replaced(place.state, position, SILENT)
            place.memory[position] = None

    def repeating(self, events: Sequence[tuple[Event, tuple[str, ...]]]) -> list[Repeating] | None:
        """Who takes more frames of such events, if all are sure to stay where they are; else None.

        Each event comes with its columns. To be asked once the events themselves have been read and
        their frame has settled.
        """
        states: dict[Slice, JointState] = {}
        found: list[Repeating] = []
        collecting: set[tuple[Slice, int]] = set()
        for event, columns in events:
            rules = self.rules.event_rules(event, self)
            heard = rules.steady(event, columns, self, self.rules.knobs)
            if heard is None:
                return None
            acts: list[tuple[Slice, int, Act]] = []
            letters: list[tuple[Slice, Letter]] = []
            for group, letter in heard:
                places = self._places_again(group, event, letter)
                if places is None:
                    return None
                for place, opens in places:
                    before = states.get(place, place.state)
                    step = group.step(before, letter, ages=place not in states, opens=opens)
                    if step.opened or step.failed or step.state.waits:
                        return None
                    states[place] = step.state
                    letters.append((place, letter))
                    for position, _, act in step.deeds:
                        if not act.still(place, event, columns, self):
                            return None
                        # What two events of a frame give comes in turn, not one after the other.
                        if act.collects and (place, position) in collecting:
                            return None
                        collecting.add((place, position))
                        acts.append((place, position, act))
            found.append((acts, letters))
        is_still = all(place.state.parts == state.parts for place, state in states.items())
        return found if is_still else None

    def _places_again(
        self, group: Group, event: Event, letter: Letter
    ) -> list[tuple[Slice, bool]] | None:
        """The slices that such an event belongs to; None where it would open one, or cost much."""
        key = group.key(event.data) if group.paths else ()
        slices = self._slices[group.number]
        place = slices.get(key)
        if place is not None:
            return [(place, True)]
        if None not in key:
            opening = self._opening[group.number]
            opens = group.step(opening, letter, ages=False, opens=True).opened
            return None if opens else []
        if len(slices) > FREE_VISITS:
            return None
        return [(each, False) for each in self._agreeing(group, key, letter)]

    def repeated(self, letters: Sequence[tuple[Slice, Letter]], event: Event, last: int) -> None:
        """Such an event came again in every frame up to `last`."""
        self._order += 1
        for place, letter in letters:
            place.frame = last
            place.heard[letter] = (self._order, last, event.type)

    def settle(self) -> None:
        """The frame is complete: bounds are judged now."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        end = Event("end of frame", {}, self.last, "transport")
        for group, place in waiting:
            if place.state.waits:
                step = group.settled(place.state, broken=self.broken)
                place.state = step.state
                self._perform(group, place, step.deeds, end)

    def close(self, how: Ending) -> tuple[Outcome, ...]:
        """Ends the exchange; one outcome per rule, in the order of the rule set."""
        self.settle()
        self.whole = how == "eof" and not self.broken
        end = Event("end of stream", {}, self.last, "transport")
        fired = [0] * len(self.rules.groups)
        for group in self.rules.groups:
            for place in self._slices[group.number].values():
                self._perform(group, place, group.ends(place.state), end)
                fired[group.number] |= place.state.fired
        outcomes = list(self._quiet_outcomes(tuple(fired)))
        # What a rule found counts where it has a say at all.
        for number, why in self._unclear.items():
            self._overrule(outcomes, number, Verdict.INCONCLUSIVE, why)
        for number, found in self._violations.items():
            self._overrule(outcomes, number, Verdict.FAIL, violations=tuple(found))
        for number, why in self._errors.items():
            self._overrule(outcomes, number, Verdict.ERROR, why)
        return tuple(outcomes)

    def _quiet_outcomes(self, fired: tuple[int, ...]) -> tuple[Outcome, ...]:
        layers, overflow = frozenset(self.layers), self.overflow
        return self.rules.outcomes(self.evidence, self._silenced, fired, layers, overflow=overflow)

    def _overrule(
        self,
        outcomes: list[Outcome],
        number: int,
        verdict: Verdict,
        why: str = "",
        violations: tuple[Violation, ...] = (),
    ) -> None:
        if outcomes[number].verdict in _OPEN_VERDICTS:
            outcomes[number] = Outcome(outcomes[number].rule, verdict, why, violations)

    def gathered(self) -> list[tuple[Rule, BothSides]]:
        """What this exchange brings to rules that compare exchanges; ask after `close`."""
        found: list[tuple[Rule, BothSides]] = []
        for group in self.rules.groups:
            for position, number in enumerate(group.numbers):
                machine = group.machines[position]
                if isinstance(machine, CompareMachine) and number not in self._silenced:
                    sides = self._slices[group.number][()].memory[position] or machine.memory()
                    sides.error = self._errors.get(number, "")
                    sides.inconclusive = (
                        "" if self.whole else "one of the compared streams was broken"
                    )
                    found.append((self.rules.rules[number].rule, sides))
        return found


def _forget_alike(heard: dict[Letter, tuple[int, int, str]], letter: Letter) -> None:
    """Letters past the cap are no longer one object each: the older of two is forgotten."""
    for other in [each for each in heard if each.code < 0 and each.names == letter.names]:
        del heard[other]
