"""The report for people: findings grouped by event, then one summary line.

Rule 1: the gravest finding on an event is told in full, the others there in one line each.
Rule 2: what a rule says, its authority and its hint are told once in a report.
Rule 3: a broken stream does not flood the page; `verbose` shows all, and a verdict per rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from msgspec import Struct, field

from conformance.judging.result import ContextLine, Finding, FindingExcuse, Report, StreamResult
from conformance.report.printable import LABELLED, Paint, labelled_lines, visible
from conformance.report.ranking import event_order
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
    verdict_changes,
)
from conformance.rules.verdicts import COMBINING

_EVENTS: Final = 12  # events with findings shown per stream
_ALSO: Final = 6  # further findings shown per event
_CONTEXT: Final = 160  # characters of one context line


class TextPage(Struct):
    """What a renderer must remember while it writes: the rules it has told already."""

    paint: Paint
    verbose: bool = False
    told: set[str] = field(default_factory=set)


def render(
    report: Report, *, verbose: bool = False, colour: bool = False, has_errors: bool = True
) -> str:
    """Write the whole page; ends with a line feed. Errors are left out where stderr has them."""
    page = TextPage(Paint(colour), verbose)
    lines = [line for stream in report.streams for line in _stream_lines(page, report, stream)]
    told = report.errors if has_errors else ()
    lines += (f"{page.paint('ERROR', 'error:')} {visible(error)}" for error in told)
    lines += (f"{page.paint('FAIL', 'stale:')} {visible(line)}" for line in stale_entries(report))
    lines += (f"note: {visible(note)}" for note in report.notes)
    lines += (
        f"{page.paint('warning', 'warning:')} {warning}" for warning in profile_warnings(report)
    )
    lines.append(page.paint("title", summary_line(report)))
    return "\n".join(lines) + "\n"


def finding_block(
    page: TextPage, file: str, finding: Finding, excuse: FindingExcuse | None = None
) -> Iterator[str]:
    """One finding in full: what, where, the events around it, and on whose authority."""
    first = page.verbose or finding.rule not in page.told
    page.told.add(finding.rule)
    yield f"{_finding_name(page, finding)}  {finding_place(file, finding)}"
    if excuse:
        yield LABELLED.format("expected", visible(f"{excuse.reason} ({excuse.entry})"))
    if first:
        yield LABELLED.format("says", visible(finding.says))
    yield LABELLED.format("found", finding_sentence(finding))
    if finding.slice:
        yield LABELLED.format("slice", slice_of(finding))
    yield from _context_lines(page, finding.context)
    if first:
        yield from labelled_lines("source", list(authority_lines(finding.source)))
        yield from labelled_lines("hint", [visible(finding.hint)] if finding.hint else [])
    yield LABELLED.format("id", page.paint("quiet", visible(finding.id)))


def _stream_lines(page: TextPage, report: Report, stream: StreamResult) -> Iterator[str]:
    told = [f for f in stream.findings if page.verbose or report.excuse(stream, f) is None]
    if not (told or stream.notes or page.verbose):
        return
    yield page.paint("title", stream_title(stream))
    yield from (f"note: {visible(note)}" for note in stream.notes)
    ordered = sorted(told, key=event_order)
    groups = [list(group) for _, group in groupby(ordered, key=lambda f: f.event)]
    shown = len(groups) if page.verbose else _EVENTS
    for group in groups[:shown]:
        yield from _event_lines(page, report, stream, group)
    if groups[shown:]:
        yield f"{count(len(groups) - shown, 'more event')} with findings (-v shows all)"
    if page.verbose:
        yield from _verdict_lines(page, stream)
    yield ""


def _event_lines(
    page: TextPage, report: Report, stream: StreamResult, group: list[Finding]
) -> Iterator[str]:
    if page.verbose:
        for finding in group:
            yield from finding_block(page, stream.file, finding, report.excuse(stream, finding))
        return
    yield from finding_block(page, stream.file, group[0])
    for finding in group[1 : _ALSO + 1]:
        within = f" [{slice_of(finding)}]" if finding.slice else ""
        yield LABELLED.format(
            "also", f"{_finding_name(page, finding)}: {finding_sentence(finding)}{within}"
        )
    if len(group) > _ALSO + 1:
        yield LABELLED.format("also", f"{len(group) - _ALSO - 1} more on this event (-v shows all)")


def _finding_name(page: TextPage, finding: Finding) -> str:
    kind = page.paint(finding.verdict, f"{finding.verdict} {finding.level}")
    return f"{kind} {visible(finding.rule)}"


def _context_lines(page: TextPage, context: tuple[ContextLine, ...]) -> Iterator[str]:
    width = max((len(visible(line.type, _CONTEXT)) for line in context), default=0)
    for line in context:
        name = visible(line.type, _CONTEXT)
        mark = page.paint("mark", ">") if line.at else " "
        text = f"  {mark} {line.event:>6}  {name:<{width}}  {visible(line.text, _CONTEXT)}"
        yield text.rstrip()
        if line.at:
            yield " " * 12 + page.paint("mark", "^" * max(len(name), 1))


def _verdict_lines(page: TextPage, stream: StreamResult) -> Iterator[str]:
    ordered = sorted(stream.verdicts.items(), key=lambda each: (COMBINING.index(each[1]), each[0]))
    names = {rule: visible(rule) for rule in stream.verdicts}
    width = max(map(len, names.values()), default=0)
    for rule, verdict in ordered:
        kind = page.paint(verdict, f"{verdict:<14}")
        reason = verdict_changes(stream, rule) or stream.reasons.get(rule, "")
        yield f"  {kind} {names[rule]:<{width}}  {visible(reason)}".rstrip()
