"""Rules that compare exchanges: judged once all of a recording have been read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from conformance.judging.findings import Memory, dress
from conformance.judging.result import Finding, StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.rules.model import Compare
from conformance.rules.monitors.gather import Contribution, compare
from conformance.rules.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of one rule that compares exchanges, hops or views."""

    rule: str
    verdict: Verdict
    reason: str
    findings: tuple[Finding, ...]


def comparisons(rulebook: Rulebook, given: Iterable[tuple[str, Contribution]]) -> list[Comparison]:
    """Judges every rule of the book that compares, by what the exchanges of a run gave."""
    by_rule: dict[str, list[Contribution]] = {}
    for rule_id, contribution in given:
        by_rule.setdefault(rule_id, []).append(contribution)
    found: list[Comparison] = []
    for rule in rulebook.rules:
        if isinstance(rule.form, Compare) and rule.id in by_rule:
            verdict, reason, violations = compare(rule.form, by_rule[rule.id])
            findings = tuple(dress(rule, v, Memory(), "run") for v in violations)
            found.append(Comparison(rule.id, verdict, reason, findings))
    return found


def with_comparisons(result: StreamResult, compared: Sequence[Comparison]) -> StreamResult:
    """The result with verdicts and findings of comparisons added."""
    reasons = {each.rule: each.reason for each in compared}
    kept = {rule: why for rule, why in result.reasons.items() if rule not in reasons}
    return replace(
        result,
        verdicts={**result.verdicts, **{each.rule: each.verdict for each in compared}},
        findings=(*result.findings, *(f for each in compared for f in each.findings)),
        reasons={**kept, **{rule: why for rule, why in reasons.items() if why}},
    )
