"""Other views of an answer, under its picture and on its scale: its upstream hop, the client.

If a recording has the times of both requests, a provider's answer is drawn at its own time. If not,
the first one starts where the application's answer begins, and each further one where the one
before it ended; without clocks, and for a client, the picture shows only the order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from msgspec import Struct

from conformance.cassette import CassetteClock, Recording, open_recording
from conformance.core.errors import ConformanceError
from conformance.core.events import Exchange
from conformance.dialects import SUPPORTED
from conformance.dialects.recognition import recognised_dialect
from conformance.evidence.application import provider_answers
from conformance.judging.result import Report, StreamResult
from conformance.report.html.timeline import ExchangePicture, LanesBeneath
from conformance.report.retrace import ShownExchange, trace_exchange, trace_report

_MOST: Final = 8  # answers of a provider that are drawn
_FRAMES: Final = 2  # of each; only their lanes are drawn
_SHOWING: Final = frozenset({"app", "downstream"})
_CLOCK_NOTE: Final = "Below it, by the same clock, what the provider said."
_NOTE: Final = (
    "Below it, on the same scale, what the provider said: the first answer from where this one"
    " begins, each further one from where the one before ended; no more of that is recorded."
)
_CLIENT: Final = "client"
_CLIENT_NOTE: Final = "Below it what the client says it saw, in its order."


class HopAnswer(Struct, frozen=True):
    """One answer, or a client's report, to be drawn under another one.

    Places of its lanes are milliseconds or event numbers from its own beginning; `marks` are events
    that findings are about. `start` is when its head came after that of the other answer, in
    milliseconds; None where no clock says.
    """

    title: str
    traced: ShownExchange
    marks: Sequence[int] = ()
    start: float | None = None


def hop_answers(
    report: Report, stream: StreamResult, recording: Recording, exchange: Exchange
) -> list[HopAnswer]:
    """The answers of the exchange's provider, then the client's report."""
    clocks = recording.cassette.clocks
    found = []
    for file, each, traced, shown, marks in _provider_answers(report, stream, recording, exchange):
        title = f"upstream: exchange {each.number}, {traced.dialect}"
        start = None
        if file == stream.file:
            start = _head_between(clocks.get(exchange.number), clocks.get(each.number))
        found.append(HopAnswer(title, shown, marks, start))
    if exchange.seen is not None:
        found.append(HopAnswer(_CLIENT, trace_report(exchange.seen)))
    return found


def hop_span(drawn: Sequence[HopAnswer]) -> tuple[float, float]:
    """When the first of these answers begins and the last one ends, in milliseconds.

    0 and 0 without a clock.
    """
    clocked = [
        (start, start + each.traced.last_ms)
        for each, start in zip(drawn, _answer_starts(drawn), strict=True)
        if each.traced.is_clocked
    ]
    return min((s for s, _ in clocked), default=0.0), max((e for _, e in clocked), default=0.0)


def hop_lines(picture: ExchangePicture, drawn: Sequence[HopAnswer]) -> Iterator[str]:
    """Their lanes as lines of HTML; none without such answers."""
    if not drawn:
        return
    notes = [_CLIENT_NOTE] if any(each.title == _CLIENT for each in drawn) else []
    if drawn[0].title != _CLIENT:
        notes = [_NOTE if drawn[0].start is None else _CLOCK_NOTE, *notes]
    yield f'<p class="when">{" ".join(notes)}</p>'
    for each, start in zip(drawn, _answer_starts(drawn), strict=True):
        is_timed = picture.traced.is_clocked and each.traced.is_clocked
        scale = 1.0 if is_timed else picture.span / max(each.traced.total, 1)
        lanes = LanesBeneath(each.title, each.traced, start if is_timed else 0.0, scale, each.marks)
        yield from lanes.svg_lines(picture)


def _answer_starts(drawn: Sequence[HopAnswer]) -> Iterator[float]:
    """Where each begins: when it came, or else where the one before ended."""
    after = 0.0
    for each in drawn:
        start = after if each.start is None else each.start
        yield start
        after = start + (each.traced.last_ms if each.traced.is_clocked else 0.0)


def _head_between(first: CassetteClock | None, second: CassetteClock | None) -> float | None:
    """Milliseconds from the head of one answer to that of another; None where no clock says."""
    if first is None or second is None or first.begun is None or second.begun is None:
        return None
    return second.begun + (second.head or 0.0) - first.begun - (first.head or 0.0)


def _provider_answers(
    report: Report, stream: StreamResult, recording: Recording, exchange: Exchange
) -> Iterator[tuple[str, Exchange, StreamResult, ShownExchange, list[int]]]:
    places = [finding.upstream for finding in stream.findings if finding.upstream is not None]
    providers = [(stream.file, each) for each in _upstream_answers(recording, exchange)]
    providers = providers or list(_exchanges_named({(at.file, at.exchange) for at in places}))
    for file, each in providers[:_MOST]:
        judged = _result_of(report, file, each)
        if judged is not None:
            marks = [at.event for at in places if (at.file, at.exchange) == (file, each.number)]
            yield file, each, judged, trace_exchange(judged, each, _FRAMES, marks), marks


def _upstream_answers(recording: Recording, exchange: Exchange) -> list[Exchange]:
    return provider_answers(recording, exchange) if exchange.hop in _SHOWING else []


def _exchanges_named(named: Collection[tuple[str, int]]) -> Iterator[tuple[str, Exchange]]:
    """Those of other files that findings name, in the order in which they came."""
    for file, number in sorted(named):
        try:
            exchanges = open_recording(file).exchanges
        except (ConformanceError, ValueError):
            continue
        yield from ((file, each) for each in exchanges if each.number == number)


def _result_of(report: Report, file: str, exchange: Exchange) -> StreamResult | None:
    """How the exchange was judged; one that was not is read by the strict profile."""
    for each in report.streams:
        if (each.file, each.exchange, each.view) == (file, exchange.number, "wire"):
            return each
    dialect = exchange.dialect or recognised_dialect(exchange)
    if dialect is None or dialect not in SUPPORTED:
        return None
    return StreamResult(
        file, exchange.number, dialect, "strict", named=False, verdicts={}, findings=()
    )
