"""The report of a corpus as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import msgspec

from conformance.corpus.grouping import CauseGroup, CellCount, CorpusReport
from conformance.corpus.wire_changes import WeekChange
from conformance.report.printable import Paint, visible
from conformance.report.wording import count

_GROUPS: Final = 30
_CELLS: Final = 8
_CHANGES: Final = 30
_FOLLOWING: Final = 4
_REASONS: Final = 5


def render_text(report: CorpusReport, *, verbose: bool = False, colour: bool = False) -> str:
    """The report for people; all of it with `verbose`."""
    return "\n".join(_text_lines(report, Paint(colour), verbose=verbose)) + "\n"


def render_json(report: CorpusReport) -> str:
    """The report as JSON: the fields of `CorpusReport`, with rates next to the counts."""
    value = msgspec.to_builtins(report)
    value["format"] = "conformance-corpus-report/1"
    for group, plain in zip(report.groups, value["groups"], strict=True):
        for cell, counts in zip(group.cells, plain["cells"], strict=True):
            counts["values"] = dict(zip(report.by, cell.values, strict=True))
            counts["rate"] = cell.rate
    return msgspec.json.format(msgspec.json.encode(value)).decode() + "\n"


def summary_text(report: CorpusReport) -> str:
    """How much was judged, and found, in one line."""
    share = share_text(report.with_findings, report.streams)
    facts = [
        f"{report.streams:,} streams",
        f"{report.with_findings:,} with findings ({share})",
        count(len(report.groups), "cause"),
    ]
    if report.unreadable:
        facts.append(f"{report.unreadable:,} not readable")
    return f"{', '.join(facts)}{span_text(report.first, report.last)}"


def corpus_notes(report: CorpusReport) -> Iterator[str]:
    """What the reader must know before the numbers."""
    if not report.about.is_complete:
        yield "the check is incomplete: `corpus check` continues it"
    if report.left_out:
        yield f"{count(report.left_out, 'stream')} without a time, or before, left out"
    if report.repeated_ids:
        shown = ", ".join(f"{name!r} ({times} times)" for name, times in report.repeated_ids[:3])
        yield f"{count(len(report.repeated_ids), 'id')} of several rows: {shown}"


def _text_lines(report: CorpusReport, paint: Paint, *, verbose: bool) -> Iterator[str]:
    yield visible(summary_text(report))
    yield from (f"{paint('warning', 'note:')} {visible(note)}" for note in corpus_notes(report))
    most = len(report.groups) if verbose else _GROUPS
    for group in report.groups[:most]:
        yield ""
        yield from _group_lines(report, group, paint, verbose=verbose)
    if report.groups[most:]:
        yield f"\n{count(len(report.groups) - most, 'more cause')}; -v shows all"
    yield from _change_lines(report, verbose=verbose)
    if report.reasons:
        yield "\nnot readable"
        for reason, number in report.reasons[: None if verbose else _REASONS]:
            yield f"  {number:>8,}  {visible(reason)}"


def _group_lines(
    report: CorpusReport, group: CauseGroup, paint: Paint, *, verbose: bool
) -> Iterator[str]:
    verdict = paint(
        "FAIL" if group.verdict == "FAIL" else "ERROR", f"{group.verdict} {group.level}"
    )
    yield f"{verdict} {paint('title', group.rule)}"
    yield f"  {visible(group.message)}"
    extent = f"{count(group.streams, 'stream')} ({share_text(group.streams, report.streams)})"
    yield f"  {extent}, {count(group.findings, 'finding')}{span_text(group.first, group.last)}"
    most = len(group.cells) if verbose else _CELLS
    by_rate = sorted(group.cells, key=lambda cell: (-cell.streams, cell.values))
    for cell in by_rate[:most]:
        yield f"    {cell_name(cell):<40} {rate_text(cell)}{span_text(cell.first, cell.last)}"
    if by_rate[most:]:
        yield f"    {len(by_rate) - most} more"
    for other in group.following[:_FOLLOWING]:
        sentence = f"{other.rule} in {count(other.streams, 'stream')}: {other.message}"
        yield f"  then {visible(sentence)}"
    place = group.exemplar
    yield f"  e.g. {visible(place.title)}"


def _change_lines(report: CorpusReport, *, verbose: bool) -> Iterator[str]:
    changes = report.history.changes
    if not report.history.streams:
        return
    looked = f"{count(report.history.streams, 'stream')} compared"
    yield f"\nwire changes from week to week: {len(changes) or 'none'} ({looked})"
    most = len(changes) if verbose else _CHANGES
    yield from (f"  {visible(change_text(each))}" for each in changes[:most])
    if changes[most:]:
        yield f"  {len(changes) - most} more; -v shows all"


def change_text(change: WeekChange) -> str:
    who = " ".join(filter(None, (change.dialect, change.provider, change.model)))
    counts = f"{change.had} of {change.before} in {change.since}, then {change.has} of {change.now}"
    return f"{change.week} {who}: {change.kind} {change.word}: {change.what} ({counts})"


def cell_name(cell: CellCount) -> str:
    """The values of a cell; a dash where the source does not say."""
    return visible(" · ".join(value or "-" for value in cell.values), 120)


def rate_text(cell: CellCount) -> str:
    return f"{cell.streams:,} of {cell.of:,} ({share_text(cell.streams, cell.of)})"


def share_text(part: int, whole: int) -> str:
    """A share in percent, with as many digits as it needs."""
    share = 100 * part / whole if whole else 0.0
    return f"{share:.1f} %" if share >= 1 or not share else f"{share:.2g} %"


def span_text(first: datetime | None, last: datetime | None) -> str:
    """From which day to which, as the rest of a line."""
    if first is None or last is None:
        return ""
    begin, end = (day_text(each) for each in (first, last))
    return f", {begin}" if begin == end else f", {begin} to {end}"


def day_text(time: datetime) -> str:
    return time.strftime("%Y-%m-%d")
