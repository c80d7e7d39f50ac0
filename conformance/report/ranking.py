"""The order of streams: in a bounded report the gravest first."""

from __future__ import annotations

from typing import Final

from conformance.judging.lineage import level_rank
from conformance.judging.result import Report, StreamResult
from conformance.rules.verdicts import Level, Verdict

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
