"""The report as annotations of a GitHub workflow, and its step summary.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions

GitHub shows ten annotations of each kind per step. So a group of findings is one annotation, where
it came first, and names the groups that follow it; the gravest come first and the others are
counted. What a baseline expects is not annotated.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from conformance.core.errors import Place, UsageError
from conformance.core.own_keys import without_own_keys
from conformance.judging.groups import (
    FindingGroup,
    FindingPlace,
    every_group,
    finding_groups,
)
from conformance.judging.result import Finding, Report
from conformance.report import markdown
from conformance.report.escaping import workflow_message, workflow_property
from conformance.report.locations import keeps_files, path_below
from conformance.report.printable import visible
from conformance.report.wording import (
    count,
    finding_sentence,
    following_sentence,
    group_spread,
    related_label,
    report_warnings,
    stale_entries,
    stream_title,
    summary_line,
    upstream_lines,
)
from conformance.rules.verdicts import Level, Verdict

VARIABLE: Final = "GITHUB_STEP_SUMMARY"
_PLACED: Final = re.compile(r"(?P<file>[^:]+)(?::(?P<line>\d+))?(?::\d+)?: ")
_MOST: Final = 10  # annotations of one kind that GitHub shows
_FOLLOWING: Final = 12  # groups named below the one that they follow
_SENTENCE: Final = 240  # characters of what one of them found
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
            file.write(without_own_keys(markdown.render(report)))
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        raise UsageError(message, place=Place(name), hint=f"${VARIABLE} names it") from error
    return Path(name)


def _report_commands(report: Report) -> Iterator[str]:
    yield from map(_error_command, report.errors)
    yield from (f"::error::stale: {workflow_message(each)}" for each in stale_entries(report))
    yield from (f"::warning::{workflow_message(warning)}" for warning in report_warnings(report))


def _error_command(error: str) -> str:
    """One command, at the line that the error names, if that file is of the checkout."""
    named = _PLACED.match(error)
    file = named["file"] if named is not None and Path(named["file"]).is_file() else ""
    if named is None or not file or (known := _checkout_path(file)) is None:
        return f"::error::{workflow_message(error)}"
    at = {"file": known, "line": named["line"] or "1"}
    return f"::error {_settings_text(at)}::{workflow_message(error)}"


def _checkout_path(file: str) -> str | None:
    """GitHub's paths are relative to the checkout, in whatever folder the tool was called."""
    return path_below(file, os.environ.get("GITHUB_WORKSPACE"))


def _settings_text(settings: Mapping[str, str]) -> str:
    return ",".join(f"{name}={workflow_property(text)}" for name, text in settings.items())


def _finding_commands(report: Report, *, verbose: bool) -> Iterator[str]:
    groups = [group for group in finding_groups(report) if group.excuse is None]
    kept = keeps_files(report)
    if verbose:
        for group in every_group(groups):
            for place in group.places:
                yield _finding_annotation(place, _place_lines(place), kept=kept)
        return
    shown = Counter(_command_kind(group.first) for group in groups)
    for kind in shown:
        of_kind = [group for group in groups if _command_kind(group.first) == kind]
        yield from (_group_annotation(group, kept=kept) for group in of_kind[:_MOST])
    if rest := sum(max(0, number - _MOST) for number in shown.values()):
        yield f"::notice::{count(rest, 'more group')} of findings; the step summary has them"


def _command_kind(finding: Finding) -> str:
    return "error" if finding.verdict is Verdict.ERROR else _KINDS[finding.level]


def _group_annotation(group: FindingGroup, *, kept: bool) -> str:
    lines = _place_lines(group.places[0])
    for other in group.following[:_FOLLOWING]:
        when, sentence = following_sentence(group, other, _SENTENCE)
        lines.append(
            f"{when} {other.first.verdict} {other.first.level} {other.first.rule}: {sentence}"
        )
    if group.following[_FOLLOWING:]:
        lines.append(f"then {count(len(group.following) - _FOLLOWING, 'more group')} of findings")
    return _finding_annotation(group.places[0], lines, kept=kept, spread=group_spread(group))


def _place_lines(place: FindingPlace) -> list[str]:
    """The finding and its place, then the place of the other event that it refers to."""
    found = place.finding
    where = f"{stream_title(place.stream)}, event {found.event}"
    related = [f"{related_label(found)}: {line}" for line in islice(upstream_lines(found), 1)]
    advice = [f"fix: {visible(found.fix)}"] if found.fix else []
    return [f"{found.says} {finding_sentence(found)} [{where}]", *related, *advice]


def _finding_annotation(
    place: FindingPlace, lines: Sequence[str], *, kept: bool, spread: str = ""
) -> str:
    """One command; its lines are shown below each other."""
    finding, file = place.finding, place.stream.file
    known = _checkout_path(file) if file and kept else None
    at = {"file": known, "line": str(finding.line or 1)} if known else {}
    title = f"{finding.verdict} {finding.level} {finding.rule}"
    settings = _settings_text({**at, "title": f"{title}, in {spread}" if spread else title})
    return f"::{_command_kind(finding)} {settings}::{'%0A'.join(map(workflow_message, lines))}"
