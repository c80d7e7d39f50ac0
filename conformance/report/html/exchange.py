"""One stream's section of the page: its picture, its findings, and its notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from conformance.cassette import Recording, open_recording
from conformance.core.errors import ConformanceError, Place, UsageError
from conformance.core.events import Exchange
from conformance.core.excerpts import redacted
from conformance.judging.lineage import event_order
from conformance.judging.result import ContextLine, Finding, Report, StreamResult
from conformance.recordings.redacted_result import Clean
from conformance.report.escaping import escape_html
from conformance.report.html.hops import hop_answers, hop_lines, hop_span
from conformance.report.html.matrix import verdict_class
from conformance.report.html.timeline import (
    ExchangePicture,
    PageBudget,
    PlacedFinding,
    picture_lines,
)
from conformance.report.locations import keeps_files
from conformance.report.redacted import without_secrets
from conformance.report.retrace import trace_exchange
from conformance.report.wording import (
    authority_lines,
    carried_sentence,
    count,
    finding_place,
    finding_sentence,
    related_label,
    slice_of,
    stream_title,
    upstream_lines,
)

_FINDINGS: Final = 60  # findings shown per stream
_FRAMES: Final = 300  # frames kept of one exchange; twice that where many findings stand


class RecordedStreams(Struct):
    """The recordings of the results, the latest only. `clean` takes secrets out of texts."""

    clean: Clean = redacted
    _latest: tuple[str, Recording] | None = None

    @property
    def latest(self) -> Recording:
        """The recording of the exchange that was requested last."""
        assert self._latest is not None
        return self._latest[1]

    def exchange(self, stream: StreamResult) -> Exchange:
        """The exchange that was judged. Raises UsageError or CassetteError."""
        if not stream.file:
            raise UsageError("the stream was not recorded in a file")
        place = Place(stream.file)
        if self._latest is None or self._latest[0] != stream.file:
            try:
                self._latest = stream.file, open_recording(stream.file, dialect=stream.dialect)
            except ValueError as error:  # no file can have such a name
                raise UsageError("no such file", place=place) from error
        for exchange in self._latest[1].exchanges:
            if exchange.number == stream.exchange:
                return exchange
        raise UsageError(f"there is no exchange {stream.exchange} any more", place=place)


def stream_section(
    report: Report,
    number: int,
    stream: StreamResult,
    recorded: RecordedStreams,
    budget: PageBudget,
    *,
    is_open: bool,
) -> Iterator[str]:
    """The section as lines of HTML; its picture is left out where the budget is spent."""
    opened = " open" if is_open else ""
    found = count(len(stream.findings), "finding")
    yield f'<details class="stream" id="s{number}"{opened}>'
    name = escape_html(stream_title(stream), 300)
    yield f"<summary><h2>{name}</h2> <span>{found}</span></summary>"
    yield from (f'<p class="note">{escape_html(note)}</p>' for note in stream.notes)
    if carried := carried_sentence(stream.links):
        yield f'<p class="when">{escape_html(carried, 4000)}</p>'
    placed = [
        PlacedFinding(f"s{number}x{place}", finding)
        for place, finding in enumerate(sorted(stream.findings, key=event_order), 1)
    ]
    lines, frames = _picture_lines(report, number, stream, placed, recorded=recorded, budget=budget)
    yield from lines
    for one in placed[:_FINDINGS]:
        yield from _finding_article(report, stream, one, frames)
    if placed[_FINDINGS:]:
        yield f'<p class="left-out">{count(len(placed) - _FINDINGS, "more finding")} left out.</p>'
    yield "</details>"


def _picture_lines(
    report: Report,
    number: int,
    stream: StreamResult,
    placed: list[PlacedFinding],
    *,
    recorded: RecordedStreams,
    budget: PageBudget,
) -> tuple[list[str], Mapping[int, str]]:
    """The picture, and the frames that it has by event number: anchors to link to."""
    if stream.view != "wire":
        return [], {}
    if budget.is_spent:
        return ['<p class="left-out">No picture: the page would grow too large.</p>'], {}
    try:
        exchange = without_secrets(recorded.exchange(stream))
        traced = trace_exchange(stream, exchange, _FRAMES)
        others = hop_answers(report, stream, recorded.latest, exchange)
    except ConformanceError as error:
        why = str(error) if keeps_files(report) else "recordings are kept only with --save DIR"
        return [f'<p class="left-out">No picture: {escape_html(why)}</p>'], {}
    findings: dict[int, list[PlacedFinding]] = {}
    for one in placed[:_FINDINGS]:
        findings.setdefault(one.finding.event, []).append(one)
    picture = ExchangePicture(number, traced, findings, recorded.clean, *hop_span(others))
    lines = picture_lines(picture, budget, hop_lines(picture, others))
    return list(lines), picture.anchors


def _finding_article(
    report: Report, stream: StreamResult, placed: PlacedFinding, frames: Mapping[int, str]
) -> Iterator[str]:
    finding = placed.finding
    excuse = report.excuse(stream, finding)
    expected = f'<span class="when">expected: {escape_html(excuse.reason)}</span>' if excuse else ""
    yield f'<article class="one {finding.level.lower()}" id="{placed.anchor}">'
    yield (
        f'<h3><span class="v {verdict_class(finding.verdict)}">'
        f"{finding.verdict} {finding.level}</span> "
        f"<code>{escape_html(finding.rule)}</code> {expected}</h3>"
    )
    found = escape_html(finding_sentence(finding), 4000)
    yield f"<p><b>{escape_html(finding.says)}</b></p><p>{found}</p>"
    where = escape_html(finding_place(stream.file or stream_title(stream), finding))
    frame = frames.get(finding.event)
    shown = f'<a href="#{frame}">{where}</a>' if frame else where
    within = f" · <code>{escape_html(slice_of(finding))}</code>" if finding.slice else ""
    yield f'<p class="when">{shown}{within} · id <code>{escape_html(finding.id)}</code></p>'
    yield from _event_lines(stream, finding)
    advice = (("hint", finding.hint), ("fix", finding.fix))
    why = [*authority_lines(finding.source), *(f"{name}: {text}" for name, text in advice if text)]
    yield f"<ul>{''.join(f'<li>{escape_html(line)}</li>' for line in why)}</ul></article>"


def _event_lines(stream: StreamResult, finding: Finding) -> Iterator[str]:
    """The events around the finding; where both hops were compared, side by side."""
    context = f"<pre>{''.join(map(_context_line, finding.context))}</pre>"
    upstream = "".join(f"{escape_html(line)}\n" for line in upstream_lines(finding))
    if upstream:
        yield f'<div class="hops"><div><p class="when">{escape_html(stream.hop or "sent")}</p>'
        label = related_label(finding)
        yield f'{context}</div><div><p class="when">{label}</p><pre>{upstream}</pre></div></div>'
    elif finding.context:
        yield context


def _context_line(line: ContextLine) -> str:
    mark = "&gt;" if line.at else " "
    return f"{mark} {line.event:>6}  {escape_html(line.type, 120)}  {escape_html(line.text)}\n"
