"""What stands beside an answer, under its picture and on its scale: the hop behind it, the client.

A recording does not hold when one exchange began on the clock of another one. So the first answer
of a provider is drawn from where the application's begins, and each further one from where the one
before it ended; without clocks, and for a client, what is shown is the order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from msgspec import Struct

from conformance.cassette import Recording, open_recording
from conformance.core.errors import ConformanceError
from conformance.core.events import Exchange
from conformance.dialects import SUPPORTED
from conformance.dialects.recognition import recognised_dialect
from conformance.evidence.application import answers_behind
from conformance.judging.result import Report, StreamResult
from conformance.report.html.timeline import ExchangePicture, LanesBeneath
from conformance.report.retrace import ShownExchange, trace_exchange, trace_report

_MOST: Final = 8  # answers of a provider that are drawn
_FRAMES: Final = 2  # of each; only their lanes are drawn
_SHOWING: Final = frozenset({"app", "downstream"})
_NOTE: Final = (
    "Below it, on the same scale, what the provider said: the first answer from where this one"
    " begins, each further one from where the one before ended; no recording holds more of that."
)
_CLIENT: Final = "client"
_CLIENT_NOTE: Final = "Below it what the client says it saw, in its order."


class BesideAnswer(Struct, frozen=True):
    """One answer, or a client's report, to be drawn under another one.

    Places of its lanes are milliseconds or event numbers from its own beginning; `marks` are events
    that findings are about.
    """

    title: str
    traced: ShownExchange
    marks: Sequence[int] = ()


def answers_beside(
    report: Report, stream: StreamResult, recording: Recording, exchange: Exchange
) -> list[BesideAnswer]:
    """What the provider behind the exchange said, then what the client said it saw."""
    found = [
        BesideAnswer(f"upstream: exchange {each.number}, {traced.dialect}", shown, marks)
        for each, traced, shown, marks in _provider_answers(report, stream, recording, exchange)
    ]
    if exchange.seen is not None:
        found.append(BesideAnswer(_CLIENT, trace_report(exchange.seen)))
    return found


def span_beside(beside: Sequence[BesideAnswer]) -> float:
    """Milliseconds that the provider's answers take, one after the other; 0 without a clock."""
    clocked = [each.traced for each in beside if each.traced.is_clocked]
    return sum(each.last_ms for each in clocked)


def beside_lines(picture: ExchangePicture, beside: Sequence[BesideAnswer]) -> Iterator[str]:
    """Their lanes as lines of HTML; nothing where there is nothing beside."""
    if not beside:
        return
    notes = [_CLIENT_NOTE] if any(each.title == _CLIENT for each in beside) else []
    notes = [_NOTE, *notes] if beside[0].title != _CLIENT else notes
    yield f'<p class="when">{" ".join(notes)}</p>'
    start = 0.0
    for each in beside:
        is_timed = picture.traced.is_clocked and each.traced.is_clocked
        scale = 1.0 if is_timed else picture.span / max(each.traced.total, 1)
        begin = start if is_timed else 0.0
        lanes = LanesBeneath(each.title, each.traced, begin, scale, each.marks)
        yield from lanes.svg_lines(picture)
        start += each.traced.last_ms if is_timed else 0.0


def _provider_answers(
    report: Report, stream: StreamResult, recording: Recording, exchange: Exchange
) -> Iterator[tuple[Exchange, StreamResult, ShownExchange, list[int]]]:
    places = [finding.upstream for finding in stream.findings if finding.upstream is not None]
    behind = [(stream.file, each) for each in _behind(recording, exchange)]
    behind = behind or list(_exchanges_named({(at.file, at.exchange) for at in places}))
    for file, each in behind[:_MOST]:
        judged = _result_of(report, file, each)
        if judged is not None:
            marks = [at.event for at in places if (at.file, at.exchange) == (file, each.number)]
            yield each, judged, trace_exchange(judged, each, _FRAMES, marks), marks


def _behind(recording: Recording, exchange: Exchange) -> list[Exchange]:
    return answers_behind(recording, exchange) if exchange.hop in _SHOWING else []


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
