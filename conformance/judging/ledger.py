"""The ledger: the judge's verdicts on one exchange, and who changed them afterwards.

Each source of knowledge outside the bytes writes here, under its name and in the order of
`WRITERS`: every changed verdict can be traced to its writer and reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from conformance.core.errors import HarnessError
from conformance.judging.result import Finding, StreamResult, VerdictChange
from conformance.rules.verdicts import Level, Verdict

WRITERS: Final = (
    "profile",  # rules that the profile switches off
    "served recording",  # upstream of a gateway: faults of the recording served there
    "own answers",  # upstream of a gateway: answers that the toolkit wrote
    "own requests",  # requests that the toolkit wrote
    "http status",  # an HTTP answer that is not a stream
    "kept file",  # how the connection ended is not known
    "expectations",  # the ending and the thinking that the scenario expects
    "hops",  # what a gateway made of its upstream's answer
    "profile",  # what the profile says of the rules that a run adds
    "consequences",  # what follows from another fault: an empty answer, a call without a result
    "undeclared",  # events that the client does not report
    "links",  # rules over an answer and the request that brings it back
    "comparisons",  # rules over several exchanges, hops or views
    "undeclared",  # comparisons of events that the client does not report
    "own requests",  # comparisons of requests that the toolkit wrote
    "randomness",  # comparisons that chance decides
    "consequences",  # comparisons of an answer with one that breaks another rule
    "redaction",  # rules that read what redaction replaced
    "broken stream",  # what a client owes of an answer that broke off
    "undeclared",  # what a client shows in another way
    "sent bytes",  # what breaks the rule before any client sees it
    "harness",  # what a harness run asks of a client
    "claims",  # what a rule would say without what the recording says of itself
    "linked files",  # rules over an answer and a request that are in two recordings
    "streams beside",  # text of another stream of the same run
    "baseline",  # findings that were expected
)
"""Who may write, in the order in which they do; `evidence.writing` has what each of them does."""


class Ledger:
    """Verdict, reason and findings by rule, open to the writers until `result` is taken.

    `reported_before` has the rules, with their levels, that an earlier request breaks for an answer
    that comes back here, too. Raises HarnessError for a writer that has no name, or comes after
    those that follow it.
    """

    def __init__(self, judged: StreamResult) -> None:
        self._judged = judged
        # Thousands of exchanges share a few of these: they are copied before they are written to.
        verdicts, reasons = judged.verdicts, judged.reasons
        self.verdicts = verdicts if isinstance(verdicts, dict) else dict(verdicts)
        self.reasons = reasons if isinstance(reasons, dict) else dict(reasons)
        self._is_shared = True
        self.findings = list(judged.findings)
        self.changes = list(judged.changes)
        self.reported_before: dict[str, Level] = {}
        # Place of the last writer among WRITERS; replays of one exchange mix theirs.
        self._turn = max((WRITERS.index(each.by) for each in judged.changes), default=0)

    def add(
        self,
        rule: str,
        verdict: Verdict,
        reason: str = "",
        findings: Iterable[Finding] = (),
        *,
        by: str,
    ) -> None:
        """Writes the verdict of a rule that the judge left open, or did not know."""
        self._write_verdict(rule, verdict, reason, by)
        found = list(findings)
        if found:
            self.findings = sorted([*self.findings, *found], key=lambda f: (f.event, f.rule))

    def withdraw(
        self,
        rules: Iterable[str],
        why: str,
        by: str,
        verdict: Verdict = Verdict.NOT_APPLICABLE,
    ) -> None:
        """Takes back verdicts with their findings: the rules say nothing here after all."""
        withdrawn = set(rules)
        for rule in sorted(withdrawn):
            self._write_verdict(rule, verdict, why, by)
        self.findings = [found for found in self.findings if found.rule not in withdrawn]

    def remark(self, rule: str, why: str, by: str, level: Level | None = None) -> None:
        """Says something of a verdict that stands; with `level`, findings bind by that one."""
        self._take_turn(by)
        verdict = self.verdicts[rule]
        self.changes.append(VerdictChange(rule, verdict, verdict, by, why))
        if level is not None:
            self.findings = [
                replace(each, level=level) if each.rule == rule else each for each in self.findings
            ]

    def silence(self, rule: str, was: Verdict, why: str, by: str) -> None:
        """Notes that a rule would have had the verdict `was`, except for `why`; changes none."""
        self._take_turn(by)
        verdict = self.verdicts.get(rule, Verdict.NOT_APPLICABLE)
        self.changes.append(VerdictChange(rule, was, verdict, by, why))

    def rules_with(self, *verdicts: Verdict) -> list[str]:
        """Rules that have one of these verdicts now."""
        return [rule for rule, given in self.verdicts.items() if given in verdicts]

    @property
    def exchange(self) -> int:
        return self._judged.exchange

    def result(self, target: str | None = None, hop: str | None = None) -> StreamResult:
        """The result as it stands, and what the recording says of target and hop if it is given."""
        judged = self._judged
        self._is_shared = True
        return replace(
            judged,
            target=judged.target if target is None else target,
            hop=judged.hop if hop is None else hop,
            verdicts=self.verdicts,
            reasons=self.reasons,
            findings=tuple(self.findings),
            changes=tuple(self.changes),
        )

    def own(self) -> None:
        """Verdicts and reasons are this ledger's alone, to be written to."""
        if self._is_shared:
            self.verdicts, self.reasons = dict(self.verdicts), dict(self.reasons)
            self._is_shared = False

    def _write_verdict(self, rule: str, verdict: Verdict, why: str, by: str) -> None:
        self._take_turn(by)
        was = self.verdicts.get(rule)
        self.own()
        self.verdicts[rule] = verdict
        if why:
            self.reasons[rule] = why
        else:
            self.reasons.pop(rule, None)
        if was is not verdict:
            self.changes.append(VerdictChange(rule, was, verdict, by, why))

    def _take_turn(self, by: str) -> None:
        try:
            self._turn = WRITERS.index(by, self._turn)
        except ValueError:
            last = WRITERS[self._turn]
            raise HarnessError(f"the ledger takes nothing from {by!r} after {last!r}") from None
