"""The plainest results that verbs and baselines are tried with."""

from __future__ import annotations

from typing import Any

from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding, Report, StreamResult
from conformance.rules.verdicts import Level, Verdict


def plain_finding(**changes: Any) -> Finding:
    """A violated MUST without place or context; any field can be replaced."""
    fields: dict[str, Any] = {
        "rule": "a/b/c",
        "level": Level.MUST,
        "verdict": Verdict.FAIL,
        "event": 1,
        "line": 2,
        "byte": 0,
        "slice": {},
        "expected": ("x",),
        "got": "y",
        "after": "",
        "message": "expected x, got y",
        "says": "It is x.",
        "hint": "",
        "context": (),
        "source": (),
        "id": "f1",
    }
    return Finding(**(fields | changes))


def violated(report: Report) -> set[str]:
    return {finding.rule for finding in report.findings}


def violated_steps(report: Report) -> set[tuple[str, str]]:
    """The rules, each with the scenario and the role that break it."""
    return {(f.rule, f"{s.scenario}/{s.role}") for s in report.streams for f in s.findings}


def failing(*rules: str, by: str = "harness", exchange: int = 0) -> Ledger:
    """A ledger in which these rules were broken."""
    ledger = Ledger(StreamResult("", exchange, "", "", named=False, verdicts={}, findings=()))
    for rule in rules:
        ledger.add(rule, Verdict.FAIL, by=by)
    return ledger
