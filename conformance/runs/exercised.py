"""How much of the rules a run really exercised, and what would exercise the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from conformance.judging.result import Report
from conformance.rules.verdicts import Verdict
from conformance.runs.plan import LeftOut
from conformance.scenarios import Scenario, load_scenarios

_FIRED: Final = frozenset({Verdict.PASS, Verdict.FAIL})
_SHOWN: Final = 6


def exercised(report: Report, left_out: Sequence[LeftOut]) -> Iterator[str]:
    """Sentences for the end of the report."""
    verdicts = report.verdicts
    about = {rule: v for rule, v in verdicts.items() if v is not Verdict.NOT_APPLICABLE}
    fired = [rule for rule, verdict in about.items() if verdict in _FIRED]
    yield f"exercised {len(fired)} of {len(about)} rules that apply"
    idle = sorted(about.keys() - set(fired))
    if not idle:
        return
    scenarios = load_scenarios()
    missing = {each.name.partition("/")[0]: each.why for each in left_out}
    by_way: dict[str, list[str]] = {}
    for rule in idle:
        by_way.setdefault(_way(rule, report, scenarios, missing), []).append(rule)
    for way, rules in by_way.items():
        shown = ", ".join(rules[:_SHOWN])
        more = f" and {len(rules) - _SHOWN} more (-v)" if rules[_SHOWN:] else ""
        yield f"not exercised, {len(rules)} ({way}): {shown}{more}"


def _way(rule: str, report: Report, scenarios: Sequence[Scenario], missing: dict[str, str]) -> str:
    """What would exercise a rule."""
    for scenario in scenarios:
        fits = any(fnmatchcase(rule, glob) for glob in scenario.exercises)
        if fits and scenario.name in missing:
            return f"scenario {scenario.name} was left out: {missing[scenario.name]}"
    run = {stream.scenario for stream in report.streams}
    unrun = [s.name for s in scenarios if s.name not in run and _fits(rule, s)]
    if unrun:
        by_url = " with --url" if any(name.startswith("gateway-") for name in run) else ""
        return f"run scenario {' or '.join(unrun)}{by_url}"
    won = report.verdicts[rule]
    reasons = [s.reasons.get(rule, "") for s in report.streams if s.verdicts.get(rule) is won]
    told = next((why for why in reasons if why and not why.startswith("never fired")), "")
    return told or "the target sent nothing that they judge"


def _fits(rule: str, scenario: Scenario) -> bool:
    return any(fnmatchcase(rule, glob) for glob in scenario.exercises)
