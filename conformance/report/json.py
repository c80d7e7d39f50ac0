"""The report for programs: `schemas/report.schema.json` describes it.

ASCII only, so that it survives every pipe and shell; keys may be added within version 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec.structs import asdict

from conformance.judging.group_id import group_id
from conformance.judging.groups import FindingGroup, finding_groups
from conformance.judging.result import Finding, Report, StreamResult
from conformance.judging.soak_figures import Latency, SoakFigures
from conformance.report.indented_json import indented_json
from conformance.report.versions import call_object
from conformance.report.wording import report_warnings

VERSION: Final = "1.0"
_STREAM_KEYS: Final = (
    *("file", "exchange", "scenario", "role", "hop", "view", "target", "dialect", "profile"),
    *(
        *("named", "verdicts", "reasons", "findings", "notes", "changes", "framing", "beside"),
        *("answers", "calls", "fitting_calls", "turn"),
    ),
)


def render(report: Report, **_: bool) -> str:
    """One object, indented; always whole."""
    return "".join(pieces(report))


def pieces(report: Report, **_: bool) -> Iterator[str]:
    """The object, stream by stream: 30,000 of them take 3 GB as one text."""
    return indented_json(
        {
            "report": VERSION,
            "call": call_object(report),
            "streams": map(_stream_object, report.streams),
            "groups": _group_objects(finding_groups(report)),
            "errors": report.errors,
            "warnings": report_warnings(report),
            "notes": report.notes,
            "passed_over": report.passed_over,
            "expected": _excuse_objects(report),
            "stale": report.baseline.stale if report.baseline else (),
            "repaired": report.baseline.repaired if report.baseline else (),
            "silenced": [{"by": by, "rules": rules} for by, rules in report.silenced.items()],
            "summary": report.summary(),
            "soak": _soak_object(report.soak) if report.soak else None,
        }
    )


def _soak_object(soak: SoakFigures) -> dict[str, Any]:
    """The figures of a soak; missing ones are absent."""
    known = {name: value for name, value in asdict(soak).items() if value is not None}
    latencies = {name: asdict(value) for name, value in known.items() if isinstance(value, Latency)}
    return known | latencies | {"failures": [asdict(each) for each in soak.failures]}


def _excuse_objects(report: Report) -> list[dict[str, Any]]:
    if report.baseline is None:
        return []
    names = ("file", "exchange", "view", "rule", "finding")
    found = report.baseline.excuses.items()
    return [dict(zip(names, key, strict=True)) | asdict(excuse) for key, excuse in found]


def _group_objects(
    groups: Iterable[FindingGroup], follows: str | None = None
) -> Iterator[dict[str, Any]]:
    for group in groups:
        first = group.first
        yield {
            "id": group.id,
            "rule": first.rule,
            "level": first.level,
            "verdict": first.verdict,
            "message": group.message,
            "slice": sorted(first.slice),
            "findings": len(group.places),
            "streams": group.streams,
            "judged": group.judged,
            "circumstances": group.circumstances,
            "expected": group.excuse is not None,
            "follows": follows,
            "first": {
                "file": group.stream.file,
                "exchange": group.stream.exchange,
                "view": group.stream.view,
                "finding": first.id,
            },
        }
        yield from _group_objects(group.following, group.id)


def _stream_object(stream: StreamResult) -> dict[str, Any]:
    return {name: getattr(stream, name) for name in _STREAM_KEYS} | {
        "findings": [_finding_object(finding) for finding in stream.findings],
        "changes": [asdict(change) for change in stream.changes],
        "error": asdict(stream.error) if stream.error else None,
        "merged": asdict(stream.merged) if stream.merged else None,
        "links": [asdict(link) for link in stream.links],
    }


def _finding_object(finding: Finding) -> dict[str, Any]:
    plain = {name: json_scalar(value) for name, value in finding.slice.items()}
    context = [asdict(line) for line in finding.context]
    upstream = asdict(finding.upstream) if finding.upstream else None
    parts = {"slice": plain, "context": context, "upstream": upstream, "group": group_id(finding)}
    about = {key: value for key, value in asdict(finding.about).items() if value}
    return asdict(finding) | parts | {"about": about}


def json_scalar(value: Any) -> str | int | float | bool | None:
    """The value, or its text where JSON cannot hold it."""
    # A hostile stream may slice by a whole object, or by a number that JSON cannot hold.
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | None) else str(value)
