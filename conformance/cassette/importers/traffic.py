"""The exchanges of judged APIs in the traffic of a browser, a proxy or a recorder.

Others (pages, pictures, telemetry) are skipped and counted, and so are answers without a saved body
(they would look like silent servers) and unreadable entries: each only loses itself. If no exchange
shows its API, the dialect that the user named applies to all. Exchanges come in the order in which
they were sent, where every one says when: HAR asks its readers to sort, and a proxy saves first
what ends first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from msgspec.structs import replace

from conformance.cassette.header import Cassette, CassetteClock, Header
from conformance.cassette.importers import ForeignFile, ImportedRecording, NothingJudgedError
from conformance.cassette.positions import Layout
from conformance.core.errors import CassetteError, Place
from conformance.core.events import Exchange
from conformance.dialects import SUPPORTED, dialect_at, refusal
from conformance.dialects.recognition import recognised_dialect

_OF_KEPT_ANSWERS: Final = frozenset({"GET", "DELETE", "HEAD", "OPTIONS"})
_LEAST_ERROR: Final = 400  # status


class CapturedExchange(NamedTuple):
    """One exchange; `layout` says where its body is, `has_body` whether one was kept.

    `sent` is when its request went out, in seconds since any beginning; None where nothing says.
    """

    exchange: Exchange
    layout: Layout | Callable[[], Layout]
    clock: CassetteClock
    has_body: bool
    sent: float | None = None


class FaultyEntry(NamedTuple):
    """An entry that cannot be read: why, and the line on which it begins."""

    message: str
    line: int


def judged_traffic(
    file: ForeignFile,
    captured: Iterable[CapturedExchange | FaultyEntry],
    header: Header,
    *,
    hint: str,
    notes: tuple[str, ...] = (),
) -> ImportedRecording:
    """The exchanges of judged APIs, numbered from 1; notes list the skipped ones.

    `hint` explains how to save bodies. Raises CassetteError if there is no such exchange.
    """
    found = list(captured)
    faults = [each for each in found if isinstance(each, FaultyEntry)]
    exchanges = _as_sent([each for each in found if isinstance(each, CapturedExchange)])
    spoken = [_spoken_dialect(file, each.exchange) for each in exchanges]
    if file.dialect and not any(spoken):
        spoken = [file.dialect] * len(exchanges)
    judged = [(name, each) for name, each in zip(spoken, exchanges, strict=True) if name]
    kept = [(name, each) for name, each in judged if each.has_body]
    skipped = _skip_notes(len(exchanges) - len(judged), len(judged) - len(kept), faults, hint)
    known = [(name, each) for name, each in kept if name in SUPPORTED]
    if known and len(known) < len(kept):
        skipped += _unsupported_notes(name for name, _ in kept if name not in SUPPORTED)
        kept = known
    if not kept:
        raise _nothing_judged(file, faults, skipped)
    numbered = tuple(
        each._replace(exchange=replace(each.exchange, number=number, dialect=name))
        for number, (name, each) in enumerate(kept, 1)
    )
    cassette = Cassette(
        header,
        tuple(each.exchange for each in numbered),
        clocks={each.exchange.number: each.clock for each in numbered},
        notes=(*notes, *skipped),
    )
    return ImportedRecording(cassette, tuple(each.layout for each in numbered))


def _as_sent(exchanges: list[CapturedExchange]) -> list[CapturedExchange]:
    if any(each.sent is None for each in exchanges):
        return exchanges
    return sorted(exchanges, key=lambda each: each.sent or 0.0)


def _nothing_judged(
    file: ForeignFile, faults: list[FaultyEntry], skipped: tuple[str, ...]
) -> CassetteError:
    if faults:
        return file.error(*faults[0])
    message = f"holds no answer of an API that is judged: {', '.join(skipped) or 'empty'}"
    return NothingJudgedError(message, place=Place(str(file.path)))


def _spoken_dialect(file: ForeignFile, exchange: Exchange) -> str | None:
    shown = recognised_dialect(exchange)
    request = exchange.request
    asked = request if request and not _is_of_kept_answers(exchange) else None
    requested = dialect_at(asked.path, asked.json) if asked else None
    if shown is None and requested is None:
        return None
    return file.dialect or shown or requested


def _is_of_kept_answers(exchange: Exchange) -> bool:
    """Whether a request lists, fetches or deletes what an API has kept: it asks for no new answer.

    An answer that is fetched shows its dialect by itself.
    """
    request, response = exchange.request, exchange.response
    return (
        request is not None
        and request.method in _OF_KEPT_ANSWERS
        and not exchange.is_connection
        and not (response is not None and (response.status or 0) >= _LEAST_ERROR)
    )


def _unsupported_notes(names: Iterable[str]) -> tuple[str, ...]:
    counts = Counter(names)
    return tuple(
        f"exchanges were skipped: {count} ({refusal(name)})" for name, count in counts.items()
    )


def _skip_notes(others: int, without: int, faults: list[FaultyEntry], hint: str) -> tuple[str, ...]:
    notes = []
    if others:
        notes.append(f"exchanges of other APIs were skipped: {others}")
    if without:
        notes.append(f"answers without a body were skipped: {without} ({hint})")
    if faults:
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        first = f"{faults[0].message} (line {faults[0].line})"
        notes.append(f"broken entries were skipped: {len(faults)}: {first}{more}")
    return tuple(notes)
