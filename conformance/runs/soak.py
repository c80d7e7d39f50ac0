"""Many streams at once: text of one that turns up in another.

The first round goes one request at a time and tells what each request is answered. Later rounds
go together; an answer that differs from its own and holds a piece of another request's is not the
model's doing. A target that is not deterministic is given a word to say in each request of later
rounds: another's word is not its doing either, and one that never says its own cannot be judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.cassette import read
from conformance.core.events import Exchange
from conformance.dialects import get
from conformance.evidence.answer import read_answer
from conformance.evidence.run_rules import OWN_TEXT, differing, told_also
from conformance.judging.result import Finding, StreamResult
from conformance.rules.verdicts import Verdict
from conformance.runs.markers import marker
from conformance.runs.plan import Visit
from conformance.runs.tour import Tour

PIECE: Final = 8  # characters of another answer that are no chance
_NOTHING: Final = "nothing to compare with"
_SILENT: Final = "the target is not deterministic, and the answer lacks the word of its request"


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
    words = {
        marker(visit.name, step.role): f"{visit.name}/{step.role}"
        for visit in tour.rounds.values()
        if visit.round > 1
        for step in visit.steps
    }
    return [
        result
        for name, results in tour.results.items()
        for result in _judged(tour, name, results, alone, words)
    ]


def _judged(
    tour: Tour,
    name: str,
    results: Sequence[StreamResult],
    alone: Mapping[tuple[str, str], Spoken],
    words: Mapping[str, str],
) -> Iterator[StreamResult]:
    visit = tour.rounds[name]
    if visit.round == 1:
        yield from results
        return
    exchanges = {each.number: each for each in read(tour.paths[name]).exchanges}
    for result in results:
        exchange = exchanges[result.exchange]
        own = alone.get((visit.scenario.name, exchange.role))
        if own is None:
            yield told_also(result, {OWN_TEXT.id: Verdict.UNTESTABLE}, (), _NOTHING)
            continue
        text = _text(tour, exchange)
        strange = (
            _pieces(text, own.text, alone) if tour.deterministic else _words(text, visit, words)
        )
        found = next(strange, None)
        if not found and not tour.deterministic and marker(name, exchange.role) not in text:
            yield told_also(result, {OWN_TEXT.id: Verdict.UNTESTABLE}, (), _SILENT)
            continue
        verdict = Verdict.FAIL if found else Verdict.PASS
        findings = (_finding(tour, exchange, *found),) if found else ()
        yield told_also(result, {OWN_TEXT.id: verdict}, findings)


def _words(text: str, own: Visit, words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Words of requests of other visits in this answer, with the name of where they belong.

    A later turn of the same visit may quote an earlier one.
    """
    for word, whose in words.items():
        if word in text and whose.rpartition("/")[0] != own.name:
            yield word, whose


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
