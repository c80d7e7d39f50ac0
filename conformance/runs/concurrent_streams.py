"""Cross-talk in the results of a run: of requests side by side, by words, ids and pieces of text.

Words and ids are what `cross_talk` finds. The first round goes one request at a time and shows what
each request is answered; an answer of a later round that differs from its own and holds a piece of
another request's is not the model's doing (`foreign_pieces` says when). A word or an id is no
chance; a piece is a MUST once it has come in two scenarios. Where no other answer has anything that
this one does not say too, that comparison says nothing. A target that is not deterministic is given
a word to say in each request of later rounds instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from conformance.core.events import Exchange
from conformance.dialects import get
from conformance.evidence.expectations import compares_answers
from conformance.judging.findings import RecentFrames, make_finding, with_request
from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding, StreamResult
from conformance.judging.run_rules import CROSS_TALK
from conformance.judging.transcript import Transcript, finding_at_end
from conformance.rules.forms.base import Violation
from conformance.rules.verdicts import Level, Verdict
from conformance.runs.api_run import ApiRun, KeptRun
from conformance.runs.cross_talk import AnswerSigns, ForeignSign, answer_signs
from conformance.runs.foreign_pieces import (
    ForeignPiece,
    LoneAnswer,
    foreign_pieces,
    request_text,
    shows_in,
)
from conformance.runs.plan import ScenarioRun
from conformance.runs.scenario_run import ScenarioOutcome, request_group, request_name

_WRITER: Final = "streams beside"
_SILENT: Final = "the answer has no word, id or text that only its own request brings"
_ONCE: Final = "a piece of a text that came once; one that comes again is no coincidence"
_MIXED: Final = "the answer holds parts of another one, or lost some to it"


class AnswerKey(NamedTuple):
    """Identifies a request, the same in every round."""

    scenario: str
    role: str
    wording: int


class LoneAnswers:
    """The answers to requests that were sent alone, to compare later answers with."""

    def __init__(self, known: Mapping[AnswerKey, LoneAnswer] | None = None) -> None:
        self._known = dict(known or {})
        self._telling: dict[AnswerKey, bool] = {}
        self._accused: set[str] = set()

    def own(self, run: ScenarioRun, role: str) -> LoneAnswer | None:
        """The answer to this request; the first round is itself what others are compared with."""
        return self._known.get(answer_key(run, role)) if run.round > 1 else None

    def is_telling(self, run: ScenarioRun, role: str) -> bool:
        """Whether a piece of any other answer would show in this one."""
        own, key = self.own(run, role), answer_key(run, role)
        if own is None:
            return False
        if key not in self._telling:
            self._telling[key] = any(shows_in(own, each) for each in self.others())
        return self._telling[key]

    def is_first(self, run: ScenarioRun) -> bool:
        """Whether no other scenario run was accused before by a piece of a text."""
        self._accused.add(run.name)
        return self._accused == {run.name}

    def others(self) -> Iterable[LoneAnswer]:
        return self._known.values()


def answer_key(run: ScenarioRun, role: str) -> AnswerKey:
    return AnswerKey(run.scenario.name, role, run.wording)


def take_answers(run: ApiRun, outcome: ScenarioOutcome, *, is_alone: bool) -> list[AnswerSigns]:
    """Shows all answers of a scenario to the watch; the signs of those that are judged."""
    watch, dialect = run.target.watch, get(run.dialect)
    group = request_group(outcome.run)
    accompanied = {role for role, _ in outcome.company}
    named = [(request_name(outcome.run, each.role), group, each) for each in outcome.answers]
    for number, (role, exchange) in enumerate(outcome.company, 1):
        name = f"{request_name(outcome.run, role)} beside {number}"
        named.append((name, name, exchange))
    taken = [
        answer_signs(
            exchange,
            dialect,
            run.settings.reading,
            request=name,
            group=of,
            is_alone=is_alone and of == group and exchange.role not in accompanied,
        )
        for name, of, exchange in named
    ]
    for each in taken:
        watch.take(each)
    return taken[: len(outcome.answers)]


def with_cross_talk(run: ApiRun) -> list[StreamResult]:
    """All results of an API, those of requests side by side with the verdict of this rule."""
    is_compared = run.deterministic and run.target.options.repeat > 1
    alone = LoneAnswers(answers_of_first_round(run) if is_compared else None)
    return [
        result for kept in run.kept.values() for result in judged_concurrently(run, kept, alone)
    ]


def answers_of_first_round(run: ApiRun) -> dict[AnswerKey, LoneAnswer]:
    return dict(
        lone_answer(run, kept.run, exchange)
        for kept in run.kept.values()
        if kept.run.round == 1
        for exchange in kept.evidence.exchanges
    )


def lone_answer(
    run: ApiRun, scenario_run: ScenarioRun, exchange: Exchange
) -> tuple[AnswerKey, LoneAnswer]:
    """An answer that was taken alone, by what it is compared with."""
    name = f"{scenario_run.name}/{exchange.role}"
    if scenario_run.wording:
        name += f" in wording {scenario_run.wording}"
    text = _joined_words(run.read_transcript(exchange))
    question = request_text(exchange.request)
    return answer_key(scenario_run, exchange.role), LoneAnswer(name, text, question)


def judged_concurrently(run: ApiRun, kept: KeptRun, alone: LoneAnswers) -> Iterator[StreamResult]:
    """Results of one scenario with the findings of cross-talk.

    `alone` has nothing to compare if answers are random. Other faults of an answer that is mixed
    with another one may come from that mix: such verdicts are INCONCLUSIVE. The rule is left out
    if it cannot judge the first round.
    """
    exchanges: dict[int, Exchange] = {}
    foreign = {
        result.role: _foreign_finding(run, kept, result, alone, exchanges)
        for result in kept.results
    }
    names = {role: request_name(kept.run, role) for role in foreign}
    mixed = {
        role for role, found in foreign.items() if found or names[role] in run.target.watch.torn
    }
    comparing = {rule.id for rule in run.target.rulebook.rules if compares_answers(rule)}
    for result in kept.results:
        ledger, found = Ledger(result), foreign[result.role]
        if mixed:
            failed = ledger.rules_with(Verdict.FAIL)
            doubtful = failed if result.role in mixed else comparing.intersection(failed)
            ledger.withdraw(doubtful, _MIXED, _WRITER, Verdict.INCONCLUSIVE)
        is_compared = alone.is_telling(kept.run, result.role)
        if found is not None:
            ledger.add(CROSS_TALK.id, Verdict.FAIL, "", (found,), by=_WRITER)
            if names[result.role] not in run.target.watch.foreign and alone.is_first(kept.run):
                ledger.remark(CROSS_TALK.id, _ONCE, _WRITER, Level.SHOULD)
        elif is_compared or names[result.role] in run.telling:
            ledger.add(CROSS_TALK.id, Verdict.PASS, by=_WRITER)
        elif kept.run.round > 1:
            ledger.add(CROSS_TALK.id, Verdict.UNTESTABLE, _SILENT, by=_WRITER)
        yield ledger.result()


def _foreign_finding(
    run: ApiRun,
    kept: KeptRun,
    result: StreamResult,
    alone: LoneAnswers,
    exchanges: dict[int, Exchange],
) -> Finding | None:
    """The part of an answer that is of another one; `exchanges` are filled in once needed."""
    sign = run.target.watch.foreign.get(request_name(kept.run, result.role))
    own = alone.own(kept.run, result.role)
    if sign is None and own is None:
        return None
    if not exchanges:
        exchanges.update((each.number, each) for each in kept.evidence.exchanges)
    exchange = exchanges[result.exchange]
    if sign is not None:
        return _sign_finding(exchange, sign, run)
    assert own is not None
    answer = run.read_transcript(exchange)
    words, question = _joined_words(answer), request_text(exchange.request)
    found = next(foreign_pieces(words, question, own, alone.others()), None)
    return _piece_finding(answer, own.name, found) if found else None


def _sign_finding(exchange: Exchange, sign: ForeignSign, run: ApiRun) -> Finding:
    """The finding at the frame where the sign came, in the exchange as it was recorded."""
    memory = RecentFrames()
    for number, _, frame, events in get(run.dialect).trace(exchange, run.settings.reading):
        if frame is not None and number <= sign.event:
            memory.keep(number, frame, events)
    where = f"{exchange.scenario}/{exchange.role}/{exchange.number}/wire"
    violation = Violation(sign.event, {}, (), "", "", sign.sentence)
    found = make_finding(CROSS_TALK, violation, memory, where)
    return with_request(found, exchange.request)


def _piece_finding(answer: Transcript, own: str, piece: ForeignPiece) -> Finding:
    message = f"{piece.text!r} belongs to the answer to {piece.owner!r}, not to {own!r}"
    return finding_at_end(CROSS_TALK, answer, message)


def _joined_words(answer: Transcript) -> str:
    return "\n".join(answer.spoken())
