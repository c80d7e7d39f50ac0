"""The report for programs: `schemas/report.schema.json` describes it.

ASCII only, so that it survives every pipe and shell; keys may be added within version 1.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any, Final

from conformance.judging.result import Finding, Report, StreamResult
from conformance.report.wording import profile_warnings, stale_entries

VERSION: Final = "1.0"


def render(report: Report, **_: bool) -> str:
    """One object, indented; always whole."""
    return json.dumps(report_object(report), indent=2, allow_nan=False) + "\n"


def report_object(report: Report) -> dict[str, Any]:
    """Build the object itself: `report`, `streams`, `errors`, `warnings`, `summary` and more."""
    return {
        "report": VERSION,
        "streams": [_stream_object(stream) for stream in report.streams],
        "errors": list(report.errors),
        "warnings": list(profile_warnings(report)),
        "notes": list(report.notes),
        "expected": _excuse_objects(report),
        "stale": list(stale_entries(report)),
        "summary": {str(verdict): number for verdict, number in report.summary().items()},
    }


def _excuse_objects(report: Report) -> list[dict[str, Any]]:
    if report.baseline is None:
        return []
    names = ("file", "exchange", "view", "rule", "finding")
    found = report.baseline.excuses.items()
    return [dict(zip(names, key, strict=True)) | asdict(excuse) for key, excuse in found]


def _stream_object(stream: StreamResult) -> dict[str, Any]:
    return {
        "file": stream.file,
        "exchange": stream.exchange,
        "scenario": stream.scenario,
        "role": stream.role,
        "hop": stream.hop,
        "view": stream.view,
        "target": stream.target,
        "dialect": stream.dialect,
        "profile": stream.profile,
        "named": stream.named,
        "verdicts": {rule: str(verdict) for rule, verdict in stream.verdicts.items()},
        "reasons": dict(stream.reasons),
        "findings": [_finding_object(finding) for finding in stream.findings],
        "notes": list(stream.notes),
        "changes": [asdict(change) for change in stream.changes],
    }


def _finding_object(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "level": str(finding.level),
        "verdict": str(finding.verdict),
        "event": finding.event,
        "line": finding.line,
        "byte": finding.byte,
        "slice": {name: json_scalar(value) for name, value in finding.slice.items()},
        "expected": list(finding.expected),
        "got": finding.got,
        "after": finding.after,
        "message": finding.message,
        "says": finding.says,
        "hint": finding.hint,
        "context": [asdict(line) for line in finding.context],
        "source": [dict(entry) for entry in finding.source],
        "id": finding.id,
    }


def json_scalar(value: Any) -> str | int | float | bool | None:
    """The value, or its text where JSON cannot hold it."""
    # A hostile stream may slice by a whole object, or by a number that JSON cannot hold.
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | None) else str(value)
