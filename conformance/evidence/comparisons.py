"""Rules that compare exchanges: judged once all of a recording have been read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from conformance.judging.findings import RecentFrames, make_finding
from conformance.judging.result import Finding
from conformance.judging.rulebook import Rulebook
from conformance.rules.model import Compare, Rule
from conformance.rules.monitors.gather import Contribution, compare
from conformance.rules.verdicts import Verdict


class RuleComparison(NamedTuple):
    """What came of one rule that compares exchanges, hops or views."""

    rule: Rule
    verdict: Verdict
    reason: str
    findings: tuple[Finding, ...]


def compare_exchanges(
    rulebook: Rulebook, given: Iterable[tuple[str, Contribution]]
) -> Iterator[RuleComparison]:
    """Judges every rule of the book that compares, by what the exchanges of a run gave."""
    by_rule: dict[str, list[Contribution]] = {}
    for rule_id, contribution in given:
        by_rule.setdefault(rule_id, []).append(contribution)
    for rule in rulebook.rules:
        if isinstance(rule.form, Compare) and rule.id in by_rule:
            verdict, reason, violations = compare(rule.form, by_rule[rule.id])
            findings = tuple(make_finding(rule, v, RecentFrames(), "run") for v in violations)
            yield RuleComparison(rule, verdict, reason, findings)
