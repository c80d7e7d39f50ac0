"""What a browser or a proxy saw: the exchanges of it that are of an API which is judged.

Others (pages, pictures, telemetry) are passed over and counted, and so are answers of which no body
was kept: they would look like servers that said nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from msgspec.structs import replace

from conformance.cassette.header import Cassette, CassetteClock, Header
from conformance.cassette.importers import ForeignFile, ImportedRecording, NothingJudgedError
from conformance.cassette.positions import Layout
from conformance.core.errors import Place
from conformance.core.events import Exchange
from conformance.dialects import dialect_at
from conformance.dialects.recognition import recognised_dialect


class SeenExchange(NamedTuple):
    """One exchange; `layout` where its body stands, `has_body` whether one was kept."""

    exchange: Exchange
    layout: Layout | Callable[[], Layout]
    clock: CassetteClock
    has_body: bool


def judged_traffic(
    file: ForeignFile, seen: Iterable[SeenExchange], header: Header, *, hint: str
) -> ImportedRecording:
    """The exchanges of judged APIs, numbered from 1.

    `hint` says how a body is kept. Raises CassetteError where there are none.
    """
    kept: list[SeenExchange] = []
    others = without = 0
    for each in seen:
        spoken = _spoken_dialect(file, each.exchange)
        if spoken is None:
            others += 1
        elif not each.has_body:
            without += 1
        else:
            exchange = replace(each.exchange, number=len(kept) + 1, dialect=spoken)
            kept.append(each._replace(exchange=exchange))
    notes = _counts(others, without, hint)
    if not kept:
        message = f"holds no answer of an API that is judged: {', '.join(notes) or 'empty'}"
        raise NothingJudgedError(message, place=Place(str(file.path)))
    cassette = Cassette(
        header,
        tuple(each.exchange for each in kept),
        clocks={each.exchange.number: each.clock for each in kept},
        notes=notes,
    )
    return ImportedRecording(cassette, tuple(each.layout for each in kept))


def _spoken_dialect(file: ForeignFile, exchange: Exchange) -> str | None:
    shown = recognised_dialect(exchange)
    requested = dialect_at(exchange.request.path) if exchange.request else None
    if shown is None and requested is None:
        return None
    return file.dialect or shown or requested


def _counts(others: int, without: int, hint: str) -> tuple[str, ...]:
    notes = []
    if others:
        notes.append(f"exchanges of no API that is judged were passed over: {others}")
    if without:
        notes.append(f"answers without a body were passed over: {without} ({hint})")
    return tuple(notes)
