"""Many streams at once: text of one that turns up in another.

The first round goes one request at a time and tells what each request is answered. Later rounds
go together; an answer that differs from its own and holds a piece of another request's is not the
model's doing. Only a deterministic target can be judged like this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.cassette import read
from conformance.check.answer import read_answer
from conformance.check.result import Finding, StreamResult
from conformance.check.stated import OWN_TEXT, differing, told_also
from conformance.dialects import get
from conformance.events import Exchange
from conformance.rules.verdicts import Verdict
from conformance.run.tour import Tour

PIECE: Final = 8  # characters of another answer that are no chance


@dataclass(frozen=True, slots=True)
class Spoken:
    """What one request was answered when it was alone."""

    name: str
    text: str


def with_foreign(tour: Tour) -> list[StreamResult]:
    """All results of an API, those of later rounds with the verdict of this rule."""
    alone = {
        (visit.scenario.name, exchange.role): Spoken(
            f"{name}/{exchange.role}", _text(tour, exchange)
        )
        for name, visit in tour.rounds.items()
        if visit.round == 1
        for exchange in read(tour.paths[name]).exchanges
    }
    return [
        result
        for name, results in tour.results.items()
        for result in _judged(tour, name, results, alone)
    ]


def _judged(
    tour: Tour,
    name: str,
    results: Sequence[StreamResult],
    alone: Mapping[tuple[str, str], Spoken],
) -> Iterator[StreamResult]:
    visit = tour.rounds[name]
    if visit.round == 1:
        yield from results
        return
    exchanges = {each.number: each for each in read(tour.paths[name]).exchanges}
    for result in results:
        exchange = exchanges[result.exchange]
        own = alone.get((visit.scenario.name, exchange.role))
        if not tour.deterministic or own is None:
            reason = "the target is not deterministic" if own else "nothing to compare with"
            yield told_also(result, {OWN_TEXT.id: Verdict.UNTESTABLE}, (), reason)
            continue
        found = next(_pieces(_text(tour, exchange), own.text, alone), None)
        verdict = Verdict.FAIL if found else Verdict.PASS
        findings = (_finding(tour, exchange, *found),) if found else ()
        yield told_also(result, {OWN_TEXT.id: verdict}, findings)


def _pieces(
    text: str, own: str, alone: Mapping[tuple[str, str], Spoken]
) -> Iterator[tuple[str, str]]:
    """Pieces of other answers in this one, with the name of where they belong."""
    if text == own:
        return
    for other in alone.values():
        strange = {
            other.text[at : at + PIECE]
            for at in range(len(other.text) - PIECE + 1)
            if other.text[at : at + PIECE] not in own
        }
        at = next((i for i in range(len(text) - PIECE + 1) if text[i : i + PIECE] in strange), None)
        if at is not None:
            yield text[at : at + PIECE], other.name


def _finding(tour: Tour, exchange: Exchange, piece: str, whose: str) -> Finding:
    answer = read_answer(exchange, get(tour.dialect), tour.way.reading)
    message = f"{piece!r} belongs to the answer to {whose}"
    return differing(OWN_TEXT, exchange, answer, message)


def _text(tour: Tour, exchange: Exchange) -> str:
    return "\n".join(read_answer(exchange, get(tour.dialect), tour.way.reading).spoken())
