"""Many streams at once: text of one that turns up in another.

The first round goes one request at a time and tells what each request is answered. Later rounds
go together; an answer that differs from its own and holds a piece of another request's is not the
model's doing. A target that is not deterministic is given a word to say in each request of later
rounds: another's word is not its doing either, and one that never says its own cannot be judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from conformance.cassette import read
from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding, StreamResult
from conformance.judging.run_rules import OWN_TEXT
from conformance.judging.transcript import Transcript, finding_at_end
from conformance.rules.verdicts import Verdict
from conformance.runs.api_run import ApiRun, KeptRun
from conformance.runs.plan import ScenarioRun
from conformance.runs.step_requests import marker_word

PIECE: Final = 8  # characters of another answer that are no chance
_NOTHING: Final = "nothing to compare with"
_SILENT: Final = "the target is not deterministic, and the answer lacks the word of its request"


class LoneAnswer(Struct, frozen=True):
    """What one request was answered when it was alone."""

    name: str
    text: str


def with_foreign_text(run: ApiRun) -> list[StreamResult]:
    """All results of an API, those of later rounds with the verdict of this rule."""
    alone = {
        (kept.run.scenario.name, exchange.role): LoneAnswer(
            f"{name}/{exchange.role}", _joined_words(run.read_transcript(exchange))
        )
        for name, kept in run.kept.items()
        if kept.run.round == 1
        for exchange in read(kept.path).exchanges
    }
    words = {
        marker_word(kept.run.name, step.role): f"{kept.run.name}/{step.role}"
        for kept in run.kept.values()
        if kept.run.round > 1
        for step in kept.run.steps
    }
    return [
        result
        for kept in run.kept.values()
        for result in (
            kept.results if kept.run.round == 1 else _judge_round(run, kept, alone, words)
        )
    ]


def _judge_round(
    run: ApiRun,
    kept: KeptRun,
    alone: Mapping[tuple[str, str], LoneAnswer],
    words: Mapping[str, str],
) -> Iterator[StreamResult]:
    exchanges = {each.number: each for each in read(kept.path).exchanges}
    for result in kept.results:
        exchange = exchanges[result.exchange]
        own = alone.get((kept.run.scenario.name, exchange.role))
        if own is None:
            yield _with_own_text(result, Verdict.UNTESTABLE, _NOTHING)
            continue
        answer = run.read_transcript(exchange)
        text = _joined_words(answer)
        foreign = (
            _foreign_pieces(text, own.text, alone)
            if run.deterministic
            else _foreign_words(text, kept.run, words)
        )
        found = next(foreign, None)
        own_word = marker_word(kept.run.name, exchange.role)
        if not found and not run.deterministic and own_word not in text:
            yield _with_own_text(result, Verdict.UNTESTABLE, _SILENT)
            continue
        verdict = Verdict.FAIL if found else Verdict.PASS
        findings = (_finding_of(answer, *found),) if found else ()
        yield _with_own_text(result, verdict, "", findings)


def _with_own_text(
    result: StreamResult, verdict: Verdict, reason: str, findings: Sequence[Finding] = ()
) -> StreamResult:
    ledger = Ledger(result)
    ledger.add(OWN_TEXT.id, verdict, reason, findings, by="streams beside")
    return ledger.result()


def _foreign_words(
    text: str, own: ScenarioRun, words: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Words of requests of other scenarios in this answer, with the name of where they belong.

    A later turn of the same scenario may quote an earlier one.
    """
    for word, whose in words.items():
        if word in text and whose.rpartition("/")[0] != own.name:
            yield word, whose


def _foreign_pieces(
    text: str, own: str, alone: Mapping[tuple[str, str], LoneAnswer]
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


def _finding_of(answer: Transcript, piece: str, whose: str) -> Finding:
    return finding_at_end(OWN_TEXT, answer, f"{piece!r} belongs to the answer to {whose}")


def _joined_words(answer: Transcript) -> str:
    return "\n".join(answer.spoken())
