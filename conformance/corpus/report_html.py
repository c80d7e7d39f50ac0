"""The report of a corpus as one page: what was found, where, since when, and a stream of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from conformance import __version__
from conformance.corpus.exemplars import Exemplar, ExemplarStreams, find_exemplars
from conformance.corpus.grouping import CauseGroup, CorpusReport, StreamPlace
from conformance.corpus.report_text import (
    change_text,
    corpus_notes,
    day_text,
    rate_text,
    share_text,
    span_text,
    summary_text,
)
from conformance.judging.result import Report
from conformance.report.escaping import escape_html
from conformance.report.html.exchange import stream_section
from conformance.report.html.page import page_lines
from conformance.report.html.timeline import PageBudget
from conformance.report.redacted import redact_report
from conformance.report.wording import count

_GROUPS: Final = 200
_CELLS: Final = 200
_CHANGES: Final = 300
_EXEMPLARS: Final = 60  # streams with a picture
_OPEN: Final = 1


def render_html(report: CorpusReport, source: str | None = None) -> str:
    """The page; exemplars are read again, from `source` where it lies elsewhere now."""
    wanted = [group.exemplar for group in report.groups[:_EXEMPLARS]]
    found = find_exemplars(report.about, wanted, source)
    lines = page_lines(summary_text(report), _body_lines(report, found))
    return "\n".join(lines) + "\n"


def _body_lines(report: CorpusReport, found: Mapping[StreamPlace, Exemplar]) -> Iterator[str]:
    yield f"<header><h1>Corpus</h1><p>{escape_html(summary_text(report))}</p>"
    yield f'<p class="when">{escape_html(report.about.source)}</p></header><main>'
    yield from (f'<p class="note"><b>note:</b> {escape_html(n)}</p>' for n in corpus_notes(report))
    anchors = {place: f"s{number}" for number, place in enumerate(found, 1)}
    yield "<section><h2>Findings</h2>"
    for group in report.groups[:_GROUPS]:
        yield from _group_article(report, group, anchors)
    if report.groups[_GROUPS:]:
        left = count(len(report.groups) - _GROUPS, "more cause")
        yield f'<p class="left-out">{left} left out.</p>'
    yield "</section>"
    yield from _change_section(report)
    yield from _reason_section(report)
    yield from _exemplar_sections(found, anchors)
    yield f"</main><footer>reasoning-conformance {escape_html(__version__)}</footer>"


def _group_article(
    report: CorpusReport, group: CauseGroup, anchors: Mapping[StreamPlace, str]
) -> Iterator[str]:
    yield f'<article class="one {escape_html(group.level.lower())}">'
    kind = "error" if group.verdict == "ERROR" else "fail"
    extent = f"{count(group.streams, 'stream')} ({share_text(group.streams, report.streams)})"
    yield (
        f'<h3><span class="v v-{kind}">{escape_html(group.verdict)} {escape_html(group.level)}'
        f'</span> <code>{escape_html(group.rule)}</code> <span class="when">{extent}, '
        f"{count(group.findings, 'finding')}{span_text(group.first, group.last)}</span></h3>"
    )
    yield f"<p>{escape_html(group.message, 4000)}</p>"
    place = group.exemplar
    name = escape_html(place.title)
    anchor = anchors.get(place)
    shown = f'<a href="#{anchor}">{name}</a>' if anchor else name
    yield f'<p class="when">e.g. {shown}</p>'
    if group.following:
        yield "<ul>"
        for other in group.following[:20]:
            sentence = f"{count(other.streams, 'stream')}: {other.message}"
            yield f"<li>then <code>{escape_html(other.rule)}</code> in {escape_html(sentence)}</li>"
        yield "</ul>"
    yield from _cell_table(report, group)
    yield "</article>"


def _cell_table(report: CorpusReport, group: CauseGroup) -> Iterator[str]:
    cells = sorted(group.cells, key=lambda cell: (-cell.streams, cell.values))
    yield f"<details><summary>{count(len(cells), 'place')} by {escape_html(', '.join(report.by))}"
    yield '</summary><div class="wide"><table class="matrix"><thead><tr>'
    heads = (*report.by, "streams", "first seen", "last seen")
    yield "".join(f'<th scope="col">{escape_html(each)}</th>' for each in heads)
    yield "</tr></thead><tbody>"
    for cell in cells[:_CELLS]:
        times = (_day_or_dash(cell.first), _day_or_dash(cell.last))
        values = (*(value or "-" for value in cell.values), rate_text(cell), *times)
        yield f"<tr>{''.join(f'<td>{escape_html(each)}</td>' for each in values)}</tr>"
    yield "</tbody></table></div>"
    if cells[_CELLS:]:
        yield f'<p class="left-out">{len(cells) - _CELLS} more left out.</p>'
    yield "</details>"


def _day_or_dash(time: datetime | None) -> str:
    return day_text(time) if time else "-"


def _change_section(report: CorpusReport) -> Iterator[str]:
    changes = report.history.changes
    if not report.history.streams:
        return
    yield "<section><h2>Wire changes from week to week</h2>"
    looked = count(report.history.streams, "stream")
    yield f'<p class="when">{len(changes) or "none"}; {looked} compared</p><ul>'
    yield from (f"<li>{escape_html(change_text(each), 4000)}</li>" for each in changes[:_CHANGES])
    if changes[_CHANGES:]:
        yield f'<li class="left-out">{len(changes) - _CHANGES} more left out</li>'
    yield "</ul></section>"


def _reason_section(report: CorpusReport) -> Iterator[str]:
    if report.reasons:
        yield f"<section><h2>Not readable ({report.unreadable:,})</h2><ul>"
        for reason, number in report.reasons:
            yield f"<li>{number:,}: {escape_html(reason)}</li>"
        yield "</ul></section>"


def _exemplar_sections(
    found: Mapping[StreamPlace, Exemplar], anchors: Mapping[StreamPlace, str]
) -> Iterator[str]:
    budget = PageBudget()
    exchanges = {
        (each.result.file, each.result.exchange): (each.stream.recording, each.exchange)
        for each in found.values()
        if each.result and each.stream and each.exchange
    }
    recorded = ExemplarStreams(known=exchanges)
    yield "<section><h2>Streams</h2>"
    for number, (place, exemplar) in enumerate(found.items(), 1):
        if exemplar.result is None:
            why = escape_html(f"{place.id}: {exemplar.missing}")
            yield f'<p class="left-out" id="{anchors[place]}">{why}</p>'
            continue
        report = redact_report(Report((exemplar.result,)), recorded.clean)
        (stream,) = report.streams
        is_open = number <= _OPEN
        yield from stream_section(report, number, stream, recorded, budget, is_open=is_open)
    yield "</section>"
