"""The kill matrix: which rules find which mutants, and what is wrong with that.

Rule 1: a mutant is killed by the MUST and SHOULD rules that fail on it and not on its base.
Rule 2: a *survivor* is a mutant that has to be killed and is not, and that no allowance covers.
Rule 3: an *alarm* is a new FAIL or ERROR, of any level, on a mutant that has to pass.
Rule 4: a rule is *dead* if it fails on no mutant at all, be it of an operator, derived from the
        rule, or shipped.
Rule 5: an allowance that covers no living mutant is *stale*, if its operator had mutants at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from conformance.check import Rulebook
from conformance.mutate.bases import Base, Judgement
from conformance.mutate.catalogue import OPERATORS
from conformance.mutate.client import client_mutants
from conformance.mutate.derived import Ground
from conformance.mutate.legal import Allowance, load
from conformance.mutate.operator import Mutant, Operator, mutants
from conformance.rules.engine import Plan

Outcome = Literal["killed", "survived", "allowed", "gap", "passed", "alarm", "unseen", "seen"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One judged mutant. `new` are rules that fail on it and not on its base."""

    operator: str
    base: str
    mutant: str
    outcome: Outcome
    killers: frozenset[str]
    new: frozenset[str]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """What came of all mutants of all bases."""

    operators: tuple[Operator, ...]
    rules: tuple[str, ...]
    bases: tuple[str, ...]
    trials: tuple[Trial, ...]
    allowances: tuple[Allowance, ...] = ()
    used: frozenset[int] = field(default_factory=frozenset)

    def of(self, outcome: Outcome) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.trials if trial.outcome == outcome)

    @property
    def survivors(self) -> tuple[Trial, ...]:
        return self.of("survived")

    @property
    def alarms(self) -> tuple[Trial, ...]:
        return self.of("alarm")

    @property
    def dead(self) -> tuple[str, ...]:
        """Rules that fail on no mutant."""
        alive = {rule for trial in self.trials for rule in trial.new}
        return tuple(rule for rule in self.rules if rule not in alive)

    @property
    def never_alone(self) -> tuple[str, ...]:
        """Rules that fail on mutants, but on none as the only one."""
        alone = {rule for trial in self.trials for rule in trial.new if len(trial.new) == 1}
        return tuple(rule for rule in self.rules if rule not in alone and rule not in self.dead)

    @property
    def stale(self) -> tuple[Allowance, ...]:
        every = enumerate(self.allowances)
        return tuple(each for n, each in every if n not in self.used)

    @property
    def is_sound(self) -> bool:
        return not (self.survivors or self.alarms or self.dead or self.stale)

    def kills(self, operator: str) -> Counter[str]:
        """How many mutants of an operator each rule killed."""
        mine = (trial for trial in self.trials if trial.operator == operator)
        return Counter(rule for trial in mine for rule in trial.killers)


class _Trials:
    """Judges mutants one after the other, with one rulebook."""

    def __init__(self, rulebook: Rulebook, allowances: Sequence[Allowance]) -> None:
        self.rulebook = rulebook
        self.allowances = allowances
        self.used: set[int] = set()

    def of(self, base: Base, operators: Sequence[Operator], seed: int) -> Iterator[Trial]:
        plain = base.judged(self.rulebook)
        for stream in base.streams():
            profile = base.profile(stream)
            if base.has_client:
                made: Iterable[Mutant] = client_mutants(stream.exchange)
            else:
                made = (m for each in operators for m in mutants(each, stream, seed=seed))
            for mutant in made:
                judged = base.judged(self.rulebook, mutant.exchange)
                allowed = [
                    (n, each)
                    for n, each in enumerate(self.allowances)
                    if each.covers(mutant.operator, base.name, profile)
                ]
                yield self._trial(base, mutant, plain, judged, allowed)

    def _trial(
        self,
        base: Base,
        mutant: Mutant,
        plain: Judgement,
        judged: Judgement,
        allowed: Sequence[tuple[int, Allowance]],
    ) -> Trial:
        killers = judged.killed_by - plain.killed_by
        new = judged.failing - plain.failing
        outcome, reason = _outcome(mutant, killers, new), ""
        if outcome == "survived" and allowed:
            number, allowance = allowed[0]
            self.used.add(number)
            outcome, reason = ("gap" if allowance.missing else "allowed"), allowance.reason
        return Trial(mutant.operator, base.name, mutant.name, outcome, killers, new, reason)

    def of_rules(self, base: Base, proved: set[str]) -> Iterator[Trial]:
        """Mutants derived from rules that the base keeps and that nothing has violated yet."""
        plain = base.judged(self.rulebook)
        for stream in base.streams():
            profile = base.profile(stream)
            ground = Ground.of(stream, profile)
            for plan in self.rulebook.bound(profile).rules.plans:
                if plan.rule.id in plain.passing and plan.rule.id not in proved:
                    yield from self._of_rule(base, plain, ground, plan, proved)

    def _of_rule(
        self, base: Base, plain: Judgement, ground: Ground, plan: Plan, proved: set[str]
    ) -> Iterator[Trial]:
        for mutant in ground.mutants(plan):
            trial = self._trial(base, mutant, plain, base.judged(self.rulebook, mutant.exchange), ())
            yield trial
            if plan.rule.id in trial.new:
                proved.add(plan.rule.id)
                return


def _outcome(mutant: Mutant, killers: frozenset[str], new: frozenset[str]) -> Outcome:
    if mutant.must == "pass":
        return "alarm" if new else "passed"
    if mutant.must == "either":
        return "seen" if killers else "unseen"
    return "killed" if killers else "survived"


def shipped_trial(base: Base, rulebook: Rulebook) -> Trial:
    """A shipped mutant; its own header says which rules have to fail."""
    judged = base.judged(rulebook)
    wanted = set(base.cassette.header.expect)
    outcome: Outcome = "killed" if wanted and wanted <= judged.failing else "survived"
    return Trial("shipped", base.name, base.name, outcome, judged.killed_by, judged.failing)


def matrix(
    bases: Iterable[Base],
    shipped: Iterable[Base] = (),
    *,
    operators: Sequence[Operator] = OPERATORS,
    rulebook: Rulebook | None = None,
    allowances: Sequence[Allowance] | None = None,
    seed: int = 0,
) -> Matrix:
    """Judges every mutant of every base once. `shipped` are mutants that stand in files."""
    rules = rulebook or Rulebook.load()
    allowed = tuple(load() if allowances is None else allowances)
    trials, proved = _Trials(rules, allowed), set[str]()
    every: list[Trial] = []
    names: list[str] = []
    for base in bases:
        names.append(base.name)
        every.extend(trials.of(base, operators, seed))
        if not base.has_client:
            every.extend(trials.of_rules(base, proved))
    every.extend(shipped_trial(base, rules) for base in shipped)
    ids = tuple(rule.id for rule in rules.rules)
    return Matrix(tuple(operators), ids, tuple(names), tuple(every), allowed, frozenset(trials.used))
