"""The order of streams and findings: in a bounded report the gravest first."""

from __future__ import annotations

from typing import Final

from conformance.judging.result import Finding, Report, StreamResult
from conformance.rules.verdicts import Level, Verdict

_LEVELS: Final = {level: rank for rank, level in enumerate(Level)}
_NOTHING: Final = len(Level) + 1


def gravest_first(report: Report) -> list[StreamResult]:
    """The streams, those with the gravest unexpected findings first, else in their order."""
    return sorted(report.streams, key=lambda stream: _stream_rank(report, stream))


def _stream_rank(report: Report, stream: StreamResult) -> int:
    if Verdict.ERROR in stream.verdicts.values():
        return -1
    found = (f for f in stream.findings if report.excuse(stream, f) is None)
    expected = len(Level) if stream.findings else _NOTHING
    return min((level_rank(finding) for finding in found), default=expected)


def level_rank(finding: Finding) -> int:
    """0 for the gravest level."""
    return _LEVELS[finding.level]


def event_order(finding: Finding) -> tuple[int, bool, int, bool]:
    """By event; what broke the order leads there: a text that differs may follow from it."""
    is_error = finding.verdict is Verdict.ERROR
    return finding.event, not is_error, level_rank(finding), not finding.after
