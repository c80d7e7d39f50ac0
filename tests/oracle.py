"""The oracle: what the judge must say, worked out rule by rule, with nothing remembered or shared.

It drives the same machines (`conformance.rules.forms`) as the judge does. What it does not have is
all that makes the judge fast: groups of rules, joint states, masks of conditions, remembered steps,
runs. So where the two differ, one of those is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, get_args

from msgspec.structs import replace

from conformance.core.events import Ending, Event, Layer
from conformance.rules import judge as limits
from conformance.rules.applies import Evidence
from conformance.rules.compiled import CompiledRule, NamedEvent, Outcome, Outcomes, compile_rule
from conformance.rules.forms.base import (
    SILENT,
    Act,
    Breach,
    CapReachedError,
    Key,
    Letter,
    Names,
    Slice,
    Unclear,
    Violation,
    failure_text,
)
from conformance.rules.forms.compare import BothSides, CompareMachine
from conformance.rules.group import key_part
from conformance.rules.judge import Judge
from conformance.rules.model import Rule
from conformance.rules.paths import getter
from conformance.rules.rule_set import RuleSet
from conformance.rules.verdicts import Verdict

LAYERS: Final[tuple[Layer, ...]] = get_args(Layer)


class OracleJudge(Judge):
    """Judges one exchange as `Judge` does, every rule by itself."""

    def __init__(self, rules: RuleSet, evidence: Evidence) -> None:
        super().__init__(RuleSet([], rules.knobs), evidence)
        self.answer = 1
        self._alone = [_RuleAlone(each, self) for each in _compiled_alone(rules)]
        speaking = [each for each in self._alone if not each.silent]
        self._of_layer = {layer: [r for r in speaking if r.listens(layer)] for layer in LAYERS}

    def read(self, event: Event) -> None:
        self.last = event.number
        self.layers.add(event.layer)
        if self.error is None and (event.layer, event.type) == ("semantic", "error"):
            self.error = event
            self.first_error = self.first_error or event
        is_overflow = event.layer == "wire" and event.type.endswith(".overflow")
        self.overflow = self.overflow or is_overflow
        self._order += 1
        for each in self._of_layer[event.layer]:
            each.hear(event, self._order)

    def settle(self) -> None:
        for each in self._alone:
            each.guard(each.settle)

    def end_answer(self, number: int) -> Outcomes:
        self.settle()
        self.last = number
        self.context.whole = self.error is None
        for each in self._alone:
            if not each.compiled.of_connection:
                each.guard(each.close)
        outcomes = Outcomes(each.outcome() for each in self._alone)
        self.answer += 1
        for each in self._alone:
            if not each.compiled.of_connection:
                each.begin()
        self.error, self.layers, self.context.whole, self.context.spent = None, set(), False, {}
        return outcomes

    def close(self, how: Ending) -> Outcomes:
        self.settle()
        self.context.whole = how == "eof" and self.error is None
        for each in self._alone:
            each.guard(each.close)
        return Outcomes(each.outcome() for each in self._alone)

    def gathered(self) -> list[tuple[Rule, BothSides]]:
        return [each.sides() for each in self._alone if each.is_side]


@lru_cache(maxsize=64)
def _compiled_alone(rules: RuleSet) -> list[CompiledRule]:
    """Rules with machines of their own, each the only one of its group."""
    return [compile_rule(each.rule, rules.knobs) for each in rules.rules]


def _of_layer(names: Iterable[NamedEvent], layer: Layer) -> tuple[NamedEvent, ...]:
    return tuple(each for each in names if each.alias.layer == layer)


class _RuleAlone:
    def __init__(self, compiled: CompiledRule, judge: OracleJudge) -> None:
        self.compiled, self.machine, self.judge = compiled, compiled.machine, judge
        early = compiled.terms.excludes_early(judge.evidence)
        self.silent = compiled.excluded is not None or early
        self.is_side = isinstance(self.machine, CompareMachine) and not self.silent
        self.letters: dict[Names, Letter] = {}
        self.error = ""
        subject = [name for each in compiled.subject for name in each.names]
        self.names = {layer: _of_layer(compiled.names, layer) for layer in LAYERS}
        self.subject = {layer: _of_layer(subject, layer) for layer in LAYERS}
        self.begin()

    def begin(self) -> None:
        """An answer begins; a rule that ended with ERROR stays so."""
        compiled = self.compiled
        self.slices: dict[Key, Slice] = {}
        self.saw_subject = False
        self.unplaced = False
        self.violations: list[Violation] = []
        self.unclear = ""
        self.visits = 0
        if self.error:
            return
        if (begun := self.machine.begins()) is not None and not compiled.slice:
            self._open((), begun)

    def guard(self, attempt: Any) -> None:
        """A rule that fails ends with ERROR."""
        if self.silent or self.error:
            return
        try:
            attempt()
        except Exception as err:  # noqa: BLE001  # as the judge does
            self._fail(err)

    def _fail(self, err: Exception) -> None:
        self.error = failure_text(err)
        self.slices.clear()

    def listens(self, layer: Layer) -> bool:
        """Whether events of that layer can mean anything to the rule."""
        return bool(self.names[layer] or self.subject[layer] or self.machine.hears_all)

    def hear(self, event: Event, order: int) -> None:
        """Takes an event; the guard is here, and not around it, as nearly all mean nothing."""
        if self.error:
            return
        try:
            self._see_subject(event)
            context, type_ = self.judge.context, event.type
            named = [each for each in self.names[event.layer] if each.is_type(type_, context)]
            if named or self.machine.hears_all:
                names = frozenset(each.name for each in named if each.holds(event, context))
                if names or self.machine.hears_all:
                    self._take(event, order, names)
        except Exception as err:  # noqa: BLE001  # as the judge does
            self._fail(err)

    def _take(self, event: Event, order: int, names: Names) -> None:
        machine = self.machine
        letter = self.letters.setdefault(names, Letter((names,), -1))
        for slice_ in list(self._reached(event, names)):
            if slice_.state is SILENT:
                continue
            if slice_.frame != event.number:
                slice_.state = machine.age(slice_.state)
            slice_.frame = event.number
            if slice_.opened[0] == 0:
                slice_.opened[0] = order
            slice_.state, acts = machine.step(slice_.state, names)
            self._perform(slice_, acts, event)
            slice_.marks[letter] = (order, event.number, event.type)

    def _see_subject(self, event: Event) -> None:
        context = self.judge.context
        for named in () if self.saw_subject else self.subject[event.layer]:
            if named.is_type(event.type, context):
                self.saw_subject = self.saw_subject or named.holds(event, context)

    def _reached(self, event: Event, names: Names) -> Iterator[Slice]:
        place = event.place or {}
        parts = [(path, key_part(getter(path)(event.data))) for path in self.compiled.slice]
        key = tuple(place.get(path) if part is None else part for path, part in parts)
        if None not in key:
            if key not in self.slices and self.machine.opens(names):
                self._open(key, self.machine.opened_state())
            yield from filter(None, [self.slices.get(key)])
            return
        if len(self.slices) > limits.FREE_VISITS:
            self.visits += len(self.slices)
            if self.visits > limits.MOST_VISITS:
                text = "too many events lack a slice field while many slices are open"
                raise CapReachedError(text)
        agreeing = [
            slice_
            for slice_ in self.slices.values()
            if all(a is None or a == b for a, b in zip(key, slice_.key, strict=True))
        ]
        if not agreeing and event.layer == "wire" and self.machine.belongs(names):
            self.unplaced = True
        yield from agreeing

    def _open(self, key: Key, state: Any) -> None:
        if len(self.slices) >= limits.MOST_SLICES:
            raise CapReachedError(f"more than {limits.MOST_SLICES} slices")
        slice_ = self.slices[key] = Slice(key, state, 1, self.judge.context)
        slice_.memory[0] = self.machine.memory()

    def _perform(self, slice_: Slice, acts: tuple[Act, ...], event: Event) -> None:
        for act in acts:
            report = act.perform(slice_, event)
            if isinstance(report, Breach) and (self.judge.context.whole or not report.owed):
                self._violate(slice_, report, event)
                return
            if isinstance(report, Breach | Unclear):
                self.unclear = self.unclear or report.message
            elif report is not None:
                slice_.state = report

    def _violate(self, slice_: Slice, breach: Breach, event: Event) -> None:
        slice_.state = SILENT
        number = event.number if breach.number is None else breach.number
        rule = self.compiled.rule
        fields = dict(zip(rule.slice, slice_.key, strict=False))
        after = str(breach.after or "")
        what = (breach.expected, breach.got, after, breach.message)
        about = replace(breach.about, behind=breach.after)
        found = Violation(number, fields, *what, self.judge.answer, about)
        self.violations.append(found)
        self.judge.fresh.append((rule, found))

    def settle(self) -> None:
        if not self.slices:
            return
        end = Event("end of frame", {}, self.judge.last, "transport")
        for slice_ in self.slices.values():
            if slice_.state is not SILENT and self.machine.waits(slice_.state):
                broken = self.judge.error is not None
                slice_.state, acts = self.machine.settle(slice_.state, broken=broken)
                self._perform(slice_, acts, end)

    def close(self) -> None:
        end = Event("end of stream", {}, self.judge.last, "transport")
        for slice_ in self.slices.values():
            if slice_.state is not SILENT:
                self._perform(slice_, self.machine.close(slice_.state), end)

    def outcome(self) -> Outcome:
        judge, compiled = self.judge, self.compiled
        refused = compiled.refusal(judge.evidence, is_silenced=self.silent, overflow=judge.overflow)
        if refused is not None:
            return refused
        if self.error:
            return Outcome(compiled.rule, Verdict.ERROR, self.error)
        if self.violations:
            return Outcome(compiled.rule, Verdict.FAIL, "", tuple(self.violations))
        if self.unclear:
            return Outcome(compiled.rule, Verdict.INCONCLUSIVE, self.unclear)
        fired = any(
            slice_.state is not SILENT and self.machine.fired(slice_.state)
            for slice_ in self.slices.values()
        )
        if compiled.subject:
            fired = self.saw_subject
        return compiled.quiet_outcome(
            has_fired=fired, is_unplaced=self.unplaced, layers=judge.layers
        )

    def sides(self) -> tuple[Rule, BothSides]:
        sides = self.slices[()].memory[0] if self.slices else self.machine.memory()
        sides.error = self.error
        whole = self.judge.context.whole
        sides.inconclusive = "" if whole else "one of the compared streams was broken"
        return self.compiled.rule, sides
