"""The report as Markdown: for step summaries, pull requests and issues.

Bounded, since a forge refuses long texts (GitHub: 1 MiB per step summary).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.judging.groups import FindingGroup, FindingPlace, finding_groups
from conformance.judging.result import Report
from conformance.report.escaping import code_block, code_span, escape_markdown
from conformance.report.ranking import gravest_first
from conformance.report.wording import (
    authority_lines,
    count,
    finding_sentence,
    following_sentence,
    group_spread,
    place_in_group,
    related_label,
    report_warnings,
    slice_of,
    soak_lines,
    stale_entries,
    stream_title,
    summary_line,
    upstream_lines,
)
from conformance.rules.verdicts import COMBINING

_STREAMS: Final = 200  # rows of the table
_GROUPS: Final = 100  # groups of findings shown in full
_FOLLOWING: Final = 20  # groups named below the one that they follow
_SENTENCE: Final = 240  # characters of what one of them found
_PLACES: Final = 20  # further places of a group
_LINES: Final = 100  # of errors, of stale entries and of notes
_CONTEXT: Final = 160  # characters of one context line


def render(report: Report, **_: bool) -> str:
    """The whole text; nothing lifts its bounds."""
    lines = ["# Conformance", "", f"**{escape_markdown(summary_line(report))}**"]
    lines += _bullet_list("Soak", soak_lines(report))
    lines += _verdict_table(report)
    lines += _finding_sections(report)
    lines += _bullet_list("Could not be judged", report.errors)
    lines += _bullet_list("Stale entries of the baseline", stale_entries(report))
    lines += _bullet_list("Notes", (*report.notes, *report_warnings(report)))
    return "\n".join(lines) + "\n"


def _verdict_table(report: Report) -> Iterator[str]:
    if not report.streams:
        return
    shown = gravest_first(report)[:_STREAMS]
    used = [v for v in COMBINING if any(v in stream.verdicts.values() for stream in shown)]
    yield from ("", f"| stream | {' | '.join(used)} |", f"|---|{'---:|' * len(used)}")
    for stream in shown:
        numbers = [sum(each is v for each in stream.verdicts.values()) for v in used]
        yield f"| {code_span(stream_title(stream), 200)} | {' | '.join(map(str, numbers))} |"
    if len(report.streams) > len(shown):
        yield from ("", f"{count(len(report.streams) - len(shown), 'more stream')} left out.")


def _finding_sections(report: Report) -> Iterator[str]:
    groups = finding_groups(report)
    if groups:
        yield from ("", "## Findings")
    for group in groups[:_GROUPS]:
        yield from _group_section(group)
    if groups[_GROUPS:]:
        yield from ("", f"{count(len(groups) - _GROUPS, 'more group')} of findings left out.")


def _group_section(group: FindingGroup) -> Iterator[str]:
    """One group: its first finding, what follows, the events around it, and all other places."""
    finding = group.first
    expected = " (expected)" if group.excuse else ""
    head = f"### {finding.verdict} {finding.level} {code_span(finding.rule)}{expected}"
    yield from ("", head, "")
    yield f"{escape_markdown(finding.says)}\n"
    if spread := group_spread(group):
        yield f"- in {escape_markdown(spread)}"
    yield f"- at {_place_span(group.places[0])}"
    yield f"- found: {escape_markdown(finding_sentence(finding))}"
    if group.excuse:
        yield f"- expected: {escape_markdown(f'{group.excuse.reason} ({group.excuse.entry})')}"
    if finding.slice:
        yield f"- slice: {code_span(slice_of(finding))}"
    yield from (f"- source: {escape_markdown(line)}" for line in authority_lines(finding.source))
    yield from (
        f"- {related_label(finding)}: {escape_markdown(line)}" for line in upstream_lines(finding)
    )
    if finding.hint:
        yield f"- hint: {escape_markdown(finding.hint)}"
    if finding.fix:
        yield f"- fix: {escape_markdown(finding.fix)}"
    of_group = f", group {code_span(group.id)}" if group.places[1:] else ""
    yield f"- id: {code_span(finding.id)}{of_group}"
    for other in group.following[:_FOLLOWING]:
        when, sentence = following_sentence(group, other, _SENTENCE)
        name = f"{other.first.verdict} {other.first.level} {code_span(other.first.rule)}"
        yield f"- {when} {name}: {escape_markdown(sentence)}"
    if group.following[_FOLLOWING:]:
        yield f"- then {count(len(group.following) - _FOLLOWING, 'more group')} of findings"
    if finding.context:
        yield ""
        marked = ((">" if line.at else " ", line) for line in finding.context)
        yield from code_block(
            [f"{at} {line.event:>6}  {line.type}  {line.text[:_CONTEXT]}" for at, line in marked]
        )
    yield from _other_places(group)


def _other_places(group: FindingGroup) -> Iterator[str]:
    others = group.places[1:]
    if others:
        head = f"{count(len(others), 'more place')}"
        yield from ("", f"<details><summary>{head}</summary>", "")
        yield from (f"- {_place_span(place)}" for place in others[:_PLACES])
        yield from (f"- {len(others) - _PLACES} more",) if others[_PLACES:] else ()
        yield from ("", "</details>")


def _place_span(place: FindingPlace) -> str:
    return code_span(place_in_group(place))


def _bullet_list(heading: str, lines: tuple[str, ...]) -> Iterator[str]:
    if lines:
        yield from ("", f"## {heading}", "")
        yield from (f"- {escape_markdown(line)}" for line in lines[:_LINES])
        if lines[_LINES:]:
            yield f"- {len(lines) - _LINES} more"
