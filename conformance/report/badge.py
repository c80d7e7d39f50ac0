"""The run in one badge: the endpoint form of shields.io (https://shields.io/badges/endpoint-badge)."""

from __future__ import annotations

import json
from typing import Final

from conformance.judging.result import Report
from conformance.report.wording import count, stale_entries
from conformance.rules.verdicts import Level, Verdict

LABEL: Final = "reasoning conformance"


def render(report: Report, **_: bool) -> str:
    message, shade = _message_and_colour(report)
    badge = {"schemaVersion": 1, "label": LABEL, "message": message, "color": shade}
    is_broken = bool(report.errors) or Verdict.ERROR in report.verdicts.values()
    return json.dumps(badge | ({"isError": True} if is_broken else {})) + "\n"


def _message_and_colour(report: Report) -> tuple[str, str]:
    counts = report.summary()
    passed, failed = counts[Verdict.PASS], counts[Verdict.FAIL]
    if report.errors or counts[Verdict.ERROR]:
        return "could not be judged", "lightgrey"
    if not passed and not failed:
        return "nothing exercised", "lightgrey"
    levels = {finding.level for finding in report.unexpected}
    if stale_entries(report):
        return f"{count(len(stale_entries(report)), 'stale expectation')}", "orange"
    if levels:
        shade = "red" if Level.MUST in levels else "orange" if Level.SHOULD in levels else "yellow"
        return f"{failed} of {passed + failed} rules fail", shade
    if failed:
        return f"{passed} pass, {failed} known to fail", "yellowgreen"
    return f"{passed} rules pass" if passed > 1 else "1 rule passes", "brightgreen"
