"""Cross-talk in the results of a run: of requests side by side, by words, ids and pieces of text.

Words and ids are what `cross_talk` finds. With `--repeat` the first round goes one request at a
time and tells what each request is answered; an answer of a later round that differs from its own
and holds a piece of another request's is not the model's doing. A target that is not deterministic
is given a word to say in each request of later rounds instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from conformance.cassette import read
from conformance.core.events import Exchange
from conformance.dialects import get
from conformance.evidence.expectations import compares_answers
from conformance.judging.findings import RecentFrames, make_finding
from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding, StreamResult
from conformance.judging.run_rules import CROSS_TALK
from conformance.judging.transcript import Transcript, finding_at_end
from conformance.rules.forms.base import Violation
from conformance.rules.verdicts import Verdict
from conformance.runs.api_run import ApiRun, KeptRun
from conformance.runs.cross_talk import AnswerSigns, ForeignSign, answer_signs
from conformance.runs.scenario_run import ScenarioOutcome, request_group, request_name

PIECE: Final = 8  # characters of another answer that are no chance
_WRITER: Final = "streams beside"
_NOTHING: Final = "nothing to compare with"
_SILENT: Final = "the answer has neither the word of its request nor ids of its own"
_MIXED: Final = "the answer holds parts of another one, or lost some to it"


class LoneAnswer(Struct, frozen=True):
    """What one request was answered when it was alone."""

    name: str
    text: str


def take_answers(run: ApiRun, outcome: ScenarioOutcome, *, is_alone: bool) -> list[AnswerSigns]:
    """Shows all answers of a scenario to the watch; their signs."""
    watch, dialect = run.target.watch, get(run.dialect)
    taken: list[AnswerSigns] = []
    for exchange in outcome.answers:
        signs = answer_signs(
            exchange,
            dialect,
            run.settings.reading,
            request=request_name(outcome.run, exchange.role),
            group=request_group(outcome.run),
            is_alone=is_alone,
        )
        watch.take(signs)
        taken.append(signs)
    return taken


def with_cross_talk(run: ApiRun) -> list[StreamResult]:
    """All results of an API, those of requests side by side with the verdict of this rule."""
    alone = {
        (kept.run.scenario.name, exchange.role): LoneAnswer(
            f"{name}/{exchange.role}", _joined_words(run.read_transcript(exchange))
        )
        for name, kept in run.kept.items()
        if kept.run.round == 1 and run.target.options.repeat > 1
        for exchange in read(kept.path).exchanges
    }
    return [result for kept in run.kept.values() for result in _judged_run(run, kept, alone)]


def _judged_run(
    run: ApiRun, kept: KeptRun, alone: Mapping[tuple[str, str], LoneAnswer]
) -> list[StreamResult]:
    if kept.run.round > 1 and run.deterministic:
        results = list(_compared_with_alone(run, kept, alone))
    else:
        needs_verdict = kept.run.round > 1
        results = list(judged_beside(run, kept, needs_verdict=needs_verdict))
    return results


def judged_beside(run: ApiRun, kept: KeptRun, *, needs_verdict: bool) -> Iterator[StreamResult]:
    """Results of one scenario with what the watch found in them.

    What else fails in an answer that is mixed with another one is not known to be a fault of its
    own: such verdicts are INCONCLUSIVE. Where the rule can say nothing it is UNTESTABLE, or left
    out unless it `needs_verdict`.
    """
    watch = run.target.watch
    names = {result.role: request_name(kept.run, result.role) for result in kept.results}
    mixed = {role for role, name in names.items() if name in watch.foreign or name in watch.torn}
    comparing = {rule.id for rule in run.target.rulebook.rules if compares_answers(rule)}
    for result in kept.results:
        name = names[result.role]
        sign = watch.foreign.get(name)
        ledger = Ledger(result)
        if mixed:
            failed = ledger.rules_with(Verdict.FAIL)
            doubtful = failed if result.role in mixed else comparing.intersection(failed)
            ledger.withdraw(doubtful, _MIXED, _WRITER, Verdict.INCONCLUSIVE)
        if sign is not None:
            finding = _sign_finding(_exchange_of(kept, result), sign, run)
            ledger.add(CROSS_TALK.id, Verdict.FAIL, "", (finding,), by=_WRITER)
        elif name in run.telling:
            ledger.add(CROSS_TALK.id, Verdict.PASS, by=_WRITER)
        elif needs_verdict:
            ledger.add(CROSS_TALK.id, Verdict.UNTESTABLE, _SILENT, by=_WRITER)
        yield ledger.result()


def _exchange_of(kept: KeptRun, result: StreamResult) -> Exchange:
    return next(each for each in read(kept.path).exchanges if each.number == result.exchange)


def _sign_finding(exchange: Exchange, sign: ForeignSign, run: ApiRun) -> Finding:
    """The finding at the frame where the sign came, in the exchange as it was recorded."""
    memory = RecentFrames()
    for number, _, frame, events in get(run.dialect).trace(exchange, run.settings.reading):
        if frame is not None and number <= sign.event:
            memory.keep(number, frame, events)
    where = f"{exchange.scenario}/{exchange.role}/{exchange.number}/wire"
    violation = Violation(sign.event, {}, (), "", "", sign.sentence)
    return make_finding(CROSS_TALK, violation, memory, where)


def _compared_with_alone(
    run: ApiRun, kept: KeptRun, alone: Mapping[tuple[str, str], LoneAnswer]
) -> Iterator[StreamResult]:
    exchanges = {each.number: each for each in read(kept.path).exchanges}
    judged = judged_beside(run, kept, needs_verdict=False)
    for result in judged:
        if result.verdicts.get(CROSS_TALK.id) is Verdict.FAIL:
            yield result
            continue
        own = alone.get((kept.run.scenario.name, result.role))
        ledger = Ledger(result)
        if own is None:
            ledger.add(CROSS_TALK.id, Verdict.UNTESTABLE, _NOTHING, by=_WRITER)
        else:
            answer = run.read_transcript(exchanges[result.exchange])
            found = next(foreign_pieces(_joined_words(answer), own.text, alone.values()), None)
            verdict = Verdict.FAIL if found else Verdict.PASS
            findings = (_piece_finding(answer, result, *found),) if found else ()
            ledger.add(CROSS_TALK.id, verdict, "", findings, by=_WRITER)
        yield ledger.result()


def foreign_pieces(text: str, own: str, others: Iterable[LoneAnswer]) -> Iterator[tuple[str, str]]:
    """Pieces of other answers in this one, with the name of where they belong."""
    if text == own:
        return
    for other in others:
        strange = {
            other.text[at : at + PIECE]
            for at in range(len(other.text) - PIECE + 1)
            if other.text[at : at + PIECE] not in own
        }
        at = next((i for i in range(len(text) - PIECE + 1) if text[i : i + PIECE] in strange), None)
        if at is not None:
            yield text[at : at + PIECE], other.name


def _piece_finding(answer: Transcript, result: StreamResult, piece: str, whose: str) -> Finding:
    own = f"{result.scenario}/{result.role}"
    message = f"{piece!r} belongs to the answer to {whose!r}, not to {own!r}"
    return finding_at_end(CROSS_TALK, answer, message)


def _joined_words(answer: Transcript) -> str:
    return "\n".join(answer.spoken())
