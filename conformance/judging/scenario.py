"""Rules whose slices go on over all exchanges of a recording (`scope: scenario`).

One judge reads the events of every exchange in turn. Numbers go on counting, so that bounds hold
across exchanges; a finding is in the exchange, and at the event, where the rule was broken.
`applies` looks at the request of the first exchange, `promises` and knobs at its profile.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from conformance.core.events import Ending, Event
from conformance.judging.rulebook import BoundRules
from conformance.rules.applies import Evidence
from conformance.rules.compiled import Outcome
from conformance.rules.forms.base import Violation
from conformance.rules.judge import Judge
from conformance.rules.model import Rule

Broken = tuple[Rule, Violation]


class ScenarioJudge:
    """The exchanges of one recording, judged together."""

    def __init__(self, bound: BoundRules, evidence: Evidence) -> None:
        self._judge = Judge(bound.scenario, evidence)
        self._before = 0  # frames of the exchanges that are over

    def take(self, events: Iterable[Event]) -> list[Broken]:
        """Reads what one frame gave rise to; violations carry the exchange's own numbers."""
        for event in events:
            number = self._before + event.number
            self._judge.read(Event(event.type, event.data, number, event.layer))
        self._judge.settle()
        return self._fresh_violations()

    def next(self) -> None:
        """An exchange is over, and another one follows."""
        self._before = self._judge.last + 1

    def close(self, how: Ending) -> tuple[tuple[Outcome, ...], list[Broken]]:
        """The last exchange ended like this: outcomes, and violations that count as its own."""
        outcomes = self._judge.close(how)
        return outcomes, self._fresh_violations()

    def _fresh_violations(self) -> list[Broken]:
        found = [(rule, self._local_number(violation)) for rule, violation in self._judge.fresh]
        self._judge.fresh.clear()
        return found

    def _local_number(self, violation: Violation) -> Violation:
        return replace(violation, number=max(0, violation.number - self._before))
