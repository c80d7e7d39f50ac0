"""Rules that compare exchanges or views: what each exchange brings to them, and what they find."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import Final, NamedTuple

from conformance.evidence.expectations import judges_requests
from conformance.judging.findings import RecentFrames, make_finding
from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding
from conformance.judging.rulebook import Rulebook
from conformance.judging.transcript import Transcript
from conformance.judging.view import JudgeSetting
from conformance.rules.applies import Evidence
from conformance.rules.forms.compare import Compare
from conformance.rules.forms.contributions import (
    ComparedPairs,
    Contribution,
    compare,
    compared_pairs,
)
from conformance.rules.judge import Judge
from conformance.rules.model import Rule
from conformance.rules.verdicts import Verdict

_NAME: Final = "comparisons"
_REFUSED: Final = "no compared request was answered"


class RuleComparison(NamedTuple):
    """What came of one rule that compares exchanges, hops or views."""

    rule: Rule
    verdict: Verdict
    reason: str
    findings: tuple[Finding, ...]
    pairs: ComparedPairs

    @property
    def exchanges(self) -> frozenset[int]:
        """The numbers of those that were compared."""
        return frozenset(each.exchange for pair in self.pairs for each in pair)

    def write(self, ledger: Ledger, refused: AbstractSet[int]) -> None:
        """Writes what came of it; `refused` are exchanges in which no answer came."""
        if self.verdict is Verdict.INCONCLUSIVE and self.exchanges <= refused:
            ledger.add(self.rule.id, Verdict.NOT_APPLICABLE, _REFUSED, by=_NAME)
        else:
            ledger.add(self.rule.id, self.verdict, self.reason, self.findings, by=_NAME)


def compare_exchanges(
    rulebook: Rulebook, given: Iterable[tuple[str, Contribution]]
) -> Iterator[RuleComparison]:
    """Judges every rule of the book that compares, by what the exchanges of a run gave."""
    by_rule: dict[str, list[Contribution]] = {}
    for rule_id, contribution in given:
        by_rule.setdefault(rule_id, []).append(contribution)
    for rule, form in rulebook.comparing if by_rule else ():
        if rule.id in by_rule:
            verdict, reason, violations = compare(form, by_rule[rule.id])
            findings = tuple(make_finding(rule, v, RecentFrames(), "run") for v in violations)
            pairs = compared_pairs(form, by_rule[rule.id])
            yield RuleComparison(rule, verdict, reason, findings, pairs)


def sent_contributions(
    setting: JudgeSetting, sent: Transcript
) -> tuple[tuple[str, Contribution], ...]:
    """What an exchange that a client reported brings, as sent, to rules that compare views.

    These compare semantic events alone, which `sent` must have kept: no byte is read again.
    """
    exchange = sent.exchange
    evidence = Evidence(
        setting.dialect.stated(exchange.request),
        exchange.response,
        setting.fidelity,
        role=exchange.role,
        hop=exchange.hop,
        reported=True,
        declared=setting.declared,
        user_choices=exchange.user_choices,
    )
    judge = Judge(setting.bound.rules, evidence)
    for _, events in groupby(sent.events, key=lambda event: event.number):
        for event in events:
            judge.read(event)
        judge.settle()
    judge.close(exchange.end)
    place = (exchange.number, exchange.role, exchange.hop, "wire", sent.last)
    return tuple((rule.id, Contribution(*place, sides)) for rule, sides in judge.gathered())


def is_ours(rule: Rule, given: Contribution) -> bool:
    """Whether a rule would compare what the toolkit itself wrote in this exchange of a run.

    That is the request to the target, and the answer to a gateway; what a rule compares between
    the two hops is the gateway's all the same.
    """
    form = rule.form
    if not isinstance(form, Compare) or form.left.hop != form.right.hop:
        return False
    return judges_requests(rule) is not (given.hop == "upstream")
