"""The report as annotations of a GitHub workflow, and its step summary.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions

GitHub shows ten annotations of each kind per step, so the gravest findings come first and the
others are counted. What a baseline expects is not annotated.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance.core.errors import Place, UsageError
from conformance.judging.result import Finding, Report, StreamResult
from conformance.report import markdown
from conformance.report.escaping import workflow_message, workflow_property
from conformance.report.locations import path_below
from conformance.report.ranking import gravest_first
from conformance.report.wording import (
    count,
    finding_sentence,
    profile_warnings,
    stale_entries,
    stream_title,
    summary_line,
)
from conformance.rules.verdicts import Level, Verdict

VARIABLE: Final = "GITHUB_STEP_SUMMARY"
_MOST: Final = 10  # annotations of one kind that GitHub shows
_KINDS: Final = {Level.MUST: "error", Level.SHOULD: "warning", Level.MAY: "notice"}


def render(report: Report, *, verbose: bool = False, **_: bool) -> str:
    """One command a line; with `verbose` every finding, though GitHub shows ten of a kind."""
    lines = [*_report_commands(report), *_finding_commands(report, verbose=verbose)]
    return "\n".join([*lines, f"conformance: {summary_line(report)}"]) + "\n"


def append_summary(report: Report) -> Path | None:
    """Append the Markdown report to the file that GitHub names; None where it names none.

    Raises UsageError where that file cannot be written.
    """
    name = os.environ.get(VARIABLE)
    if not name:
        return None
    try:
        with Path(name).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(markdown.render(report))
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        raise UsageError(message, place=Place(name), hint=f"${VARIABLE} names it") from error
    return Path(name)


def _report_commands(report: Report) -> Iterator[str]:
    yield from (f"::error::{workflow_message(error)}" for error in report.errors)
    yield from (f"::error::stale: {workflow_message(each)}" for each in stale_entries(report))
    yield from (f"::warning::{workflow_message(warning)}" for warning in profile_warnings(report))


def _finding_commands(report: Report, *, verbose: bool) -> Iterator[str]:
    found = [
        (_command_kind(finding), stream, finding)
        for stream in gravest_first(report)
        for finding in stream.findings
        if report.excuse(stream, finding) is None
    ]
    shown: Counter[str] = Counter()
    for kind, stream, finding in found:
        shown[kind] += 1
        if verbose or shown[kind] <= _MOST:
            yield _finding_command(kind, stream, finding)
    rest = 0 if verbose else sum(max(0, number - _MOST) for number in shown.values())
    if rest:
        yield f"::notice::{count(rest, 'more finding')}; the step summary has them"


def _command_kind(finding: Finding) -> str:
    return "error" if finding.verdict is Verdict.ERROR else _KINDS[finding.level]


def _finding_command(kind: str, stream: StreamResult, finding: Finding) -> str:
    # GitHub counts paths from the checkout, wherever the tool was called.
    file = path_below(stream.file, os.environ.get("GITHUB_WORKSPACE")) if stream.file else None
    place = {"file": file, "line": str(finding.line or 1)} if file else {}
    properties = {**place, "title": f"{finding.verdict} {finding.level} {finding.rule}"}
    told = ",".join(f"{name}={workflow_property(text)}" for name, text in properties.items())
    where = f"{stream_title(stream)}, event {finding.event}"
    text = f"{finding.says} {finding_sentence(finding)} [{where}]"
    return f"::{kind} {told}::{workflow_message(text)}"
