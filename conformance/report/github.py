"""The report as annotations of a GitHub workflow, and its step summary.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions

GitHub shows ten annotations of each kind per step. So a group of findings is one annotation, where
it came first, and names the groups that follow it; the gravest come first and the others are
counted. What a baseline expects is not annotated.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
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
from conformance.report.locations import path_below
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
    yield from (f"::error::{workflow_message(error)}" for error in report.errors)
    yield from (f"::error::stale: {workflow_message(each)}" for each in stale_entries(report))
    yield from (f"::warning::{workflow_message(warning)}" for warning in report_warnings(report))


def _finding_commands(report: Report, *, verbose: bool) -> Iterator[str]:
    groups = [group for group in finding_groups(report) if group.excuse is None]
    if verbose:
        for group in every_group(groups):
            yield from (_finding_annotation(place, _place_lines(place)) for place in group.places)
        return
    shown = Counter(_command_kind(group.first) for group in groups)
    for kind in shown:
        of_kind = [group for group in groups if _command_kind(group.first) == kind]
        yield from map(_group_annotation, of_kind[:_MOST])
    if rest := sum(max(0, number - _MOST) for number in shown.values()):
        yield f"::notice::{count(rest, 'more group')} of findings; the step summary has them"


def _command_kind(finding: Finding) -> str:
    return "error" if finding.verdict is Verdict.ERROR else _KINDS[finding.level]


def _group_annotation(group: FindingGroup) -> str:
    lines = _place_lines(group.places[0])
    for other in group.following[:_FOLLOWING]:
        when, sentence = following_sentence(group, other, _SENTENCE)
        lines.append(
            f"{when} {other.first.verdict} {other.first.level} {other.first.rule}: {sentence}"
        )
    if group.following[_FOLLOWING:]:
        lines.append(f"then {count(len(group.following) - _FOLLOWING, 'more group')} of findings")
    return _finding_annotation(group.places[0], lines, group_spread(group))


def _place_lines(place: FindingPlace) -> list[str]:
    """The finding and its place, then the place of the other event that it refers to."""
    found = place.finding
    where = f"{stream_title(place.stream)}, event {found.event}"
    related = [f"{related_label(found)}: {line}" for line in islice(upstream_lines(found), 1)]
    return [f"{found.says} {finding_sentence(found)} [{where}]", *related]


def _finding_annotation(place: FindingPlace, lines: Sequence[str], spread: str = "") -> str:
    """One command; its lines are shown below each other."""
    finding, file = place.finding, place.stream.file
    # GitHub's paths are relative to the checkout, in whatever folder the tool was called.
    known = path_below(file, os.environ.get("GITHUB_WORKSPACE")) if file else None
    at = {"file": known, "line": str(finding.line or 1)} if known else {}
    title = f"{finding.verdict} {finding.level} {finding.rule}"
    properties = {**at, "title": f"{title}, in {spread}" if spread else title}
    settings = ",".join(f"{name}={workflow_property(text)}" for name, text in properties.items())
    return f"::{_command_kind(finding)} {settings}::{'%0A'.join(map(workflow_message, lines))}"
