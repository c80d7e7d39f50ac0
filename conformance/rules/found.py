"""What a judge found of each rule so far, and the outcomes that this makes of an exchange."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from msgspec.structs import replace

from conformance.core.events import Event
from conformance.rules.compiled import CompiledRule, Outcome, Outcomes
from conformance.rules.forms.base import Breach, Key, Violation
from conformance.rules.model import Rule
from conformance.rules.verdicts import Verdict

_HAVING_A_SAY: Final = frozenset(
    {Verdict.PASS, Verdict.VACUOUS, Verdict.INCONCLUSIVE, Verdict.FAIL}
)


class FoundByRules:
    """Errors, violations and undecided questions, by the number of the rule.

    `fresh` are violations that have not been taken yet.
    """

    def __init__(self, rules: Sequence[CompiledRule]) -> None:
        self.rules = rules
        self.fresh: list[tuple[Rule, Violation]] = []
        self.errors: dict[int, str] = {}
        self.unclear: dict[int, str] = {}
        self._answer = 1
        self._violations: dict[int, list[Violation]] = {}

    def begin_answer(self, kept: Collection[int]) -> None:
        """The next answer begins; errors stay, and the findings of the `kept` rules."""
        self._answer += 1
        self.unclear = {n: why for n, why in self.unclear.items() if n in kept}
        self._violations = {n: found for n, found in self._violations.items() if n in kept}

    def add_violation(self, number: int, key: Key, breach: Breach, event: Event) -> None:
        """Takes the breach of a slice, noticed at an event."""
        rule = self.rules[number].rule
        violation = Violation(
            event.number if breach.number is None else breach.number,
            dict(zip(rule.slice, key, strict=False)),
            breach.expected,
            breach.got,
            str(breach.after or ""),
            breach.message,
            self._answer,
            replace(breach.about, behind=breach.after, inferred=tuple(event.place or ())),
        )
        self._violations.setdefault(number, []).append(violation)
        self.fresh.append((rule, violation))

    def outcomes(self, quiet: Outcomes) -> Outcomes:
        """All outcomes; `quiet` are those of rules that found nothing.

        What a rule found counts where it has a say at all.
        """
        broken: list[tuple[int, Verdict, str, tuple[Violation, ...]]] = [
            *((n, Verdict.INCONCLUSIVE, why, ()) for n, why in self.unclear.items()),
            *((n, Verdict.FAIL, "", tuple(found)) for n, found in self._violations.items()),
            *((n, Verdict.ERROR, why, ()) for n, why in self.errors.items()),
        ]
        others: dict[int, Outcome] = {}
        for number, verdict, why, violations in broken:
            before = others.get(number, quiet[number])
            if before.verdict in _HAVING_A_SAY:
                others[number] = Outcome(before.rule, verdict, why, violations)
        return quiet.overruled(others)
