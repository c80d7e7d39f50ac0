"""The report for people: what to know first, findings in groups, then one summary line.

Rule 1: what one must know to read findings (notes, warnings) stands above them, notes folded to one
line: on a terminal the last lines are the findings and the summary.
Rule 2: of a group the first finding is in full, with the command that shows it again; groups
that follow from it in one line each.
Rule 3: what a rule says, its authority and its hint appear once in a report.
Rule 4: broken streams do not flood the page; `verbose` shows every finding of every stream in
full, every note, and a verdict per rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field

from conformance.judging.groups import (
    FindingGroup,
    finding_groups,
    groups_by_finding,
)
from conformance.judging.lineage import event_order
from conformance.judging.result import (
    ContextLine,
    Finding,
    FindingExcuse,
    Report,
    StreamResult,
    finding_key,
)
from conformance.report.locations import recheck_command, repeated_call
from conformance.report.printable import (
    LABELLED,
    Paint,
    columns,
    fitting,
    fitting_ends,
    labelled_lines,
    visible,
)
from conformance.report.wording import (
    authority_lines,
    count,
    exchange_title,
    finding_place,
    finding_sentence,
    following_sentence,
    group_spread,
    link_sentence,
    related_label,
    repaired_sentence,
    report_warnings,
    slice_of,
    soak_lines,
    stale_entries,
    stream_title,
    summary_line,
    upstream_lines,
    verdict_changes,
)
from conformance.rules.verdicts import COMBINING

_GROUPS: Final = 40
_FOLLOWING: Final = 12  # groups shown below the one that they follow
_SENTENCE: Final = 240  # characters of what one of them found
_CALL: Final = 2000  # characters of a command
_CONTEXT: Final = 160  # characters of one context line
_NARROWEST: Final = 20  # of them that are shown on any terminal
_BEFORE: Final = 14  # columns that type and data do not have


class TextPage(Struct):
    """What a renderer must remember while it writes: the rules it has explained already."""

    paint: Paint
    verbose: bool = False
    width: int = 0  # columns that a frame's data must fit in; 0 for any number
    is_alone: bool = False  # only one stream was judged
    call: tuple[str, ...] = ()  # options of the call that a command needs, too; with its verb
    explained_rules: set[str] = field(default_factory=set)


def render(
    report: Report,
    *,
    verbose: bool = False,
    colour: bool = False,
    width: int = 0,
    has_errors: bool = True,
) -> str:
    """Write the whole page; ends with a line feed. Errors are left out where stderr has them.

    `width` is that of the terminal, 0 where nothing is to be cut.
    """
    page = TextPage(
        Paint(colour),
        verbose,
        0 if verbose else width,
        is_alone=len(report.streams) == 1,
        call=repeated_call(report),
    )
    lines = list(_lines_above(page, report))
    lines += _all_lines(page, report) if verbose else _group_lines(page, report)
    errors = report.errors if has_errors else ()
    lines += (f"{page.paint('ERROR', 'error:')} {visible(error)}" for error in errors)
    old = report.baseline.stale if verbose and report.baseline else stale_entries(report)
    lines += (f"{page.paint('FAIL', 'stale:')} {visible(line)}" for line in old)
    if repaired := repaired_sentence(report):
        lines.append(f"to delete: {repaired}")
    lines += (f"note: {visible(note)}" for note in report.notes)
    if verbose:
        lines += (f"skipped: {visible(file)}" for file in report.passed_over)
    lines.append(page.paint("title", summary_line(report)))
    return "\n".join(lines) + "\n"


def _lines_above(page: TextPage, report: Report) -> Iterator[str]:
    """What one must know before the findings: notes in one line, figures of a soak, warnings."""
    notes = Counter(note for stream in report.streams for note in stream.notes)
    has_groups = any(group.excuse is None for group in finding_groups(report))
    if page.is_alone and not page.verbose and (has_groups or notes):
        yield page.paint("title", stream_title(report.streams[0]))
    if notes and not page.verbose:
        yield _folded_notes(page, notes)
    yield from (f"soak: {line}" for line in soak_lines(report))
    yield from (
        f"{page.paint('warning', 'warning:')} {warning}" for warning in report_warnings(report)
    )


def _folded_notes(page: TextPage, notes: Counter[str]) -> str:
    """The first note, on how many streams it stands, and how many more there are."""
    note, number = next(iter(notes.items()))
    streams = "" if page.is_alone else f" ({count(number, 'stream')})"
    more = f"; {count(len(notes) - 1, 'more note')} (-v shows them)" if len(notes) > 1 else ""
    return f"note: {visible(note)}{streams}{more}"


def finding_block(
    page: TextPage,
    stream: StreamResult,
    finding: Finding,
    *,
    group: FindingGroup | None = None,
    excuse: FindingExcuse | None = None,
) -> Iterator[str]:
    """One finding in full: what, where, the events around it, and on whose authority.

    With its `group`, also how often it came and where first.
    """
    first = page.verbose or finding.rule not in page.explained_rules
    page.explained_rules.add(finding.rule)
    yield f"{_finding_name(page, finding)}  {finding_place(stream.file, finding)}"
    if excuse:
        yield LABELLED.format("expected", visible(f"{excuse.reason} ({excuse.entry})"))
    if group and (spread := group_spread(group)):
        yield LABELLED.format("in", spread)
    if group and finding is not group.first and stream is not group.stream:
        yield LABELLED.format("first", finding_place(group.stream.file, group.first))
    if first:
        yield LABELLED.format("says", visible(finding.says))
    yield LABELLED.format("found", finding_sentence(finding))
    if finding.reproduce:
        yield LABELLED.format("again", visible(finding.reproduce, _CALL))
    if finding.slice:
        yield LABELLED.format("slice", slice_of(finding))
    yield from _context_lines(page, finding.context)
    yield from labelled_lines(related_label(finding), list(upstream_lines(finding)))
    if first:
        yield from labelled_lines("source", list(authority_lines(finding.source)))
        yield from labelled_lines("hint", [visible(finding.hint)] if finding.hint else [])
        yield from labelled_lines("fix", [visible(finding.fix)] if finding.fix else [])
    if group and not finding.reproduce and (again := recheck_command(page.call, stream, finding)):
        yield LABELLED.format("again", visible(again, _CALL))
    of_group = f", group {group.id}" if group and group.places[1:] else ""
    yield LABELLED.format("id", page.paint("quiet", f"{visible(finding.id)}{of_group}"))


def _group_lines(page: TextPage, report: Report) -> Iterator[str]:
    """Groups of unexpected findings, each by its first one."""
    groups = [group for group in finding_groups(report) if group.excuse is None]
    for group in groups[:_GROUPS]:
        head, *block = finding_block(page, group.stream, group.first, group=group)
        named = () if page.is_alone else (LABELLED.format("stream", exchange_title(group.stream)),)
        yield from (head, *named, *block, *_following_lines(page, group))
        yield ""
    if groups[_GROUPS:]:
        yield from (f"{count(len(groups) - _GROUPS, 'more group')} of findings (-v shows all)", "")


def _following_lines(page: TextPage, group: FindingGroup) -> Iterator[str]:
    for other in group.following[:_FOLLOWING]:
        when, sentence = following_sentence(group, other, _SENTENCE)
        yield LABELLED.format(when, f"{_finding_name(page, other.first)}: {sentence}")
    if group.following[_FOLLOWING:]:
        more = count(len(group.following) - _FOLLOWING, "more group")
        yield LABELLED.format("then", f"{more} of findings (-v shows all)")


def _all_lines(page: TextPage, report: Report) -> Iterator[str]:
    """Every stream with all that was found in it, and a verdict per rule."""
    groups = groups_by_finding(report)
    for stream in report.streams:
        yield from _stream_head(page, stream)
        for finding in sorted(stream.findings, key=event_order):
            group = groups[finding_key(stream, finding)]
            excuse = report.excuse(stream, finding)
            yield from finding_block(page, stream, finding, group=group, excuse=excuse)
        yield from _verdict_lines(page, stream)
        yield ""


def _stream_head(page: TextPage, stream: StreamResult) -> Iterator[str]:
    yield page.paint("title", stream_title(stream))
    yield from (f"note: {visible(note)}" for note in stream.notes)
    yield from (link_sentence(link) for link in stream.links if page.verbose)


def _finding_name(page: TextPage, finding: Finding) -> str:
    kind = page.paint(finding.verdict, f"{finding.verdict} {finding.level}")
    return f"{kind} {visible(finding.rule)}"


def _context_lines(page: TextPage, context: tuple[ContextLine, ...]) -> Iterator[str]:
    names = [visible(line.type, _CONTEXT) for line in context]
    # A line that the terminal breaks would tear the marks from what they mark.
    if page.width:
        most = max(page.width - _BEFORE - _NARROWEST, _NARROWEST)
        names = [fitting(name, most) for name in names]
    width = max(map(columns, names), default=0)
    columns_left = max(page.width - width - _BEFORE, _NARROWEST) if page.width else 0
    for line, name in zip(context, names, strict=True):
        mark = page.paint("mark", ">") if line.at else " "
        shown = visible(line.text, _CONTEXT)
        shown = fitting_ends(shown, columns_left) if columns_left else shown
        text = f"  {mark} {line.event:>6}  {name}{' ' * (width - columns(name))}  {shown}"
        yield text.rstrip()
        if line.at:
            yield " " * 12 + page.paint("mark", "^" * max(columns(name), 1))


def _verdict_lines(page: TextPage, stream: StreamResult) -> Iterator[str]:
    ordered = sorted(stream.verdicts.items(), key=lambda each: (COMBINING.index(each[1]), each[0]))
    names = {rule: visible(rule) for rule in stream.verdicts}
    width = max(map(len, names.values()), default=0)
    for rule, verdict in ordered:
        kind = page.paint(verdict, f"{verdict:<14}")
        reason = verdict_changes(stream, rule) or stream.reasons.get(rule, "")
        yield f"  {kind} {names[rule]:<{width}}  {visible(reason)}".rstrip()
