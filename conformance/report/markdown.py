"""The report as Markdown: for step summaries, pull requests and issues.

Bounded, since a forge refuses long texts (GitHub: 1 MiB per step summary).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.judging.result import Finding, FindingExcuse, Report, StreamResult
from conformance.report.escaping import code_block, code_span, escape_markdown
from conformance.report.ranking import gravest_first
from conformance.report.wording import (
    authority_lines,
    count,
    finding_place,
    finding_sentence,
    profile_warnings,
    slice_of,
    stale_entries,
    stream_title,
    summary_line,
)
from conformance.rules.verdicts import COMBINING

_STREAMS: Final = 200  # rows of the table
_FINDINGS: Final = 100  # findings told in full
_CONTEXT: Final = 160  # characters of one context line


def render(report: Report, **_: bool) -> str:
    """The whole text; nothing lifts its bounds."""
    lines = ["# Conformance", "", f"**{escape_markdown(summary_line(report))}**"]
    lines += _verdict_table(report)
    lines += _finding_sections(report)
    lines += _bullet_list("Could not be judged", report.errors)
    lines += _bullet_list("Stale entries of the baseline", stale_entries(report))
    lines += _bullet_list("Notes", (*report.notes, *profile_warnings(report)))
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
    found = [
        (stream, finding, report.excuse(stream, finding))
        for stream in gravest_first(report)
        for finding in stream.findings
    ]
    if found:
        yield from ("", "## Findings")
    for stream, finding, excuse in found[:_FINDINGS]:
        yield from finding_section(stream, finding, excuse)
    if found[_FINDINGS:]:
        yield from ("", f"{count(len(found) - _FINDINGS, 'more finding')} left out.")


def finding_section(
    stream: StreamResult, finding: Finding, excuse: FindingExcuse | None = None
) -> Iterator[str]:
    """One finding: what, where, the events around it, and on whose authority."""
    expected = " (expected)" if excuse else ""
    head = f"### {finding.verdict} {finding.level} {code_span(finding.rule)}{expected}"
    yield from ("", head, "")
    yield f"{escape_markdown(finding.says)}\n"
    yield f"- at {code_span(finding_place(stream.file or stream_title(stream), finding))}"
    yield f"- found: {escape_markdown(finding_sentence(finding))}"
    if excuse:
        yield f"- expected: {escape_markdown(f'{excuse.reason} ({excuse.entry})')}"
    if finding.slice:
        yield f"- slice: {code_span(slice_of(finding))}"
    yield from (f"- source: {escape_markdown(line)}" for line in authority_lines(finding.source))
    if finding.hint:
        yield f"- hint: {escape_markdown(finding.hint)}"
    yield f"- id: {code_span(finding.id)}"
    if finding.context:
        yield ""
        marked = ((">" if line.at else " ", line) for line in finding.context)
        yield from code_block(
            [f"{at} {line.event:>6}  {line.type}  {line.text[:_CONTEXT]}" for at, line in marked]
        )


def _bullet_list(heading: str, lines: tuple[str, ...]) -> Iterator[str]:
    if lines:
        yield from ("", f"## {heading}", "")
        yield from (f"- {escape_markdown(line)}" for line in lines[:_FINDINGS])
        if lines[_FINDINGS:]:
            yield f"- {len(lines) - _FINDINGS} more"
