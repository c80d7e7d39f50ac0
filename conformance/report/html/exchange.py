"""One stream's section of the page: its picture, its findings, and what was said about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conformance.core.errors import ConformanceError
from conformance.judging.result import ContextLine, Finding, Report, StreamResult
from conformance.report.escaping import html
from conformance.report.html.budget import FINDINGS, FRAMES, Budget
from conformance.report.html.matrix import css
from conformance.report.html.timeline import Picture, Told, timeline
from conformance.report.ranking import by_event
from conformance.report.recorded import Recorded, headless
from conformance.report.retrace import Traced, from_events, retraced
from conformance.report.wording import authority, count, place, sentence, slice_of, title


def section(
    report: Report, number: int, stream: StreamResult, recorded: Recorded, budget: Budget
) -> Iterator[str]:
    """The section as lines of HTML; its picture is left out where the budget is spent."""
    opened = " open" if stream.findings else ""
    found = count(len(stream.findings), "finding")
    yield f'<details class="stream" id="s{number}"{opened}>'
    yield f"<summary><h2>{html(title(stream), 300)}</h2> <span>{found}</span></summary>"
    yield from (f'<p class="note">{html(note)}</p>' for note in stream.notes)
    told = [
        Told(f"s{number}x{place}", finding)
        for place, finding in enumerate(sorted(stream.findings, key=by_event), 1)
    ]
    lines, frames = _picture_lines(number, stream, told, recorded, budget)
    yield from lines
    for one in told[:FINDINGS]:
        yield from _finding_article(report, stream, one, frames)
    if told[FINDINGS:]:
        yield f'<p class="left-out">{count(len(told) - FINDINGS, "more finding")} left out.</p>'
    yield "</details>"


def _picture_lines(
    number: int, stream: StreamResult, told: list[Told], recorded: Recorded, budget: Budget
) -> tuple[list[str], Mapping[int, str]]:
    """The picture, and the frames that it has by event number: anchors to link to."""
    if stream.view != "wire":
        return [], {}
    if budget.is_spent:
        return ['<p class="left-out">No picture: the page would grow too large.</p>'], {}
    try:
        traced = _traced_exchange(stream, recorded)
    except ConformanceError as error:
        return [f'<p class="left-out">No picture: {html(str(error))}</p>'], {}
    findings: dict[int, list[Told]] = {}
    for one in told[:FINDINGS]:
        findings.setdefault(one.finding.event, []).append(one)
    picture = Picture(number, traced, findings, recorded.clean)
    return list(timeline(picture, budget)), picture.anchors


def _traced_exchange(stream: StreamResult, recorded: Recorded) -> Traced:
    if stream.events and not stream.file:
        return from_events(stream, FRAMES)
    return retraced(stream, headless(recorded.exchange(stream)), FRAMES)


def _finding_article(
    report: Report, stream: StreamResult, told: Told, frames: Mapping[int, str]
) -> Iterator[str]:
    finding = told.finding
    excuse = report.excuse(stream, finding)
    expected = f'<span class="when">expected: {html(excuse.reason)}</span>' if excuse else ""
    yield f'<article class="one {finding.level.lower()}" id="{told.anchor}">'
    yield (
        f'<h3><span class="v {css(finding.verdict)}">{finding.verdict} {finding.level}</span> '
        f"<code>{html(finding.rule)}</code> {expected}</h3>"
    )
    yield f"<p><b>{html(finding.says)}</b></p><p>{html(sentence(finding), 4000)}</p>"
    where = html(place(stream.file or title(stream), finding))
    frame = frames.get(finding.event)
    shown = f'<a href="#{frame}">{where}</a>' if frame else where
    within = f" · <code>{html(slice_of(finding))}</code>" if finding.slice else ""
    yield f'<p class="when">{shown}{within} · id <code>{html(finding.id)}</code></p>'
    yield from _context_block(finding)
    why = [*authority(finding.source), *([f"hint: {finding.hint}"] if finding.hint else [])]
    yield f"<ul>{''.join(f'<li>{html(line)}</li>' for line in why)}</ul></article>"


def _context_block(finding: Finding) -> Iterator[str]:
    if finding.context:
        yield f"<pre>{''.join(_context_line(line) for line in finding.context)}</pre>"


def _context_line(line: ContextLine) -> str:
    mark = "&gt;" if line.at else " "
    return f"{mark} {line.event:>6}  {html(line.type, 120)}  {html(line.text)}\n"
