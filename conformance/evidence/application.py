"""Judges both hops of an application: its provider's answers, and what it sends of them.

An application's answer is compared with the provider's answers of the same scenario and role; where
these have none, with those that follow it in the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from msgspec.structs import replace

from conformance.cassette import Recording
from conformance.core.events import Exchange, Request
from conformance.core.json_values import NOT_JSON
from conformance.core.trace import frame_payload
from conformance.dialects.base import Dialect, Reading
from conformance.evidence.expectations import KEEPS_HISTORY, stated_run
from conformance.evidence.hop_comparisons import COMPARISONS, overlap
from conformance.evidence.hop_opaque import NO_LATER_CALL, SHOWN_ELSEWHERE, brings_back
from conformance.evidence.hop_sides import ApplicationHops, Compared, HopDifference, ReadAnswer
from conformance.evidence.hop_tries import try_replaced, without_tries
from conformance.evidence.marked_answers import marked_readings
from conformance.evidence.side_content import EventPlace, read_content
from conformance.judging.findings import RecentFrames, make_finding
from conformance.judging.hop_rules import TRY_REPLACED
from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding, ReferencedEvent
from conformance.judging.transcript import read_transcript
from conformance.rules.about import About
from conformance.rules.forms.base import Violation
from conformance.rules.model import Rule
from conformance.rules.verdicts import Verdict

APP: Final = "app"
"""The hop of an application's own answers."""
_NAME: Final = "hops"

ReadExchange = Callable[[Exchange], ReadAnswer]


def provider_answers(recording: Recording, shown: Exchange) -> list[Exchange]:
    """The provider's answers from which the application made the one that is shown."""
    if shown.role or shown.scenario:
        place = ("upstream", shown.scenario, shown.role)
        return [e for e in recording.exchanges if (e.hop, e.scenario, e.role) == place]
    turns = [each.number for each in recording.exchanges if each.hop == APP]
    following = next((number for number in turns if number > shown.number), None)
    first = 0 if shown.number == turns[0] else shown.number
    return [
        each
        for each in recording.exchanges
        if each.hop == "upstream"
        and each.number > first
        and (following is None or each.number < following)
    ]


def later_requests(recording: Recording, shown: Exchange) -> list[Request]:
    """The requests to the provider in the turns that continue the one shown."""
    turns = [e for e in recording.exchanges if e.hop == APP and e.after == shown.number]
    requests = (each.request for turn in turns for each in provider_answers(recording, turn))
    return [request for request in requests if request is not None]


def keeps_history(recording: Recording, shown: Exchange, read: ReadExchange) -> str:
    """Why nothing is known of the last answer, where the application itself keeps the history.

    What it sent to its model shows that; if the user's own request has what the model sealed, the
    history is the user's. A run states it, where another scenario has shown it: in an
    untrusted recording that is a claim.
    """
    calls = provider_answers(recording, shown)
    if calls and _brings_back(recording, shown, calls, read):
        return NO_LATER_CALL
    is_stated = (stated_run(recording.header) or {}).get(KEEPS_HISTORY) is True
    return SHOWN_ELSEWHERE if is_stated else ""


def _brings_back(
    recording: Recording, shown: Exchange, calls: Sequence[Exchange], read: ReadExchange
) -> bool:
    known = {each.number for each in calls}
    exchanges = recording.exchanges
    earlier = [e for e in exchanges if e.hop == "upstream" and e.number < calls[0].number]
    answers = (read(each) for each in earlier if each.number not in known)
    return brings_back(shown.request, calls[0].request, answers)


def read_answer(
    exchange: Exchange, dialect: Dialect, reading: Reading, source: tuple[str, int] = ("", 1)
) -> ReadAnswer:
    """Reads an answer with its semantic events; `source` is the file that holds it.

    Thinking that markers of a known family show in the text of a provider is thinking also where no
    profile says so: that is what an application has to make of it.
    """

    def read(by: Reading) -> ReadAnswer:
        transcript = read_transcript(exchange, dialect, by, keep="semantic")
        return ReadAnswer(dialect, by, transcript, source)

    answer = read(reading)
    if exchange.hop != "upstream" or reading.markers:
        return answer
    readings = marked_readings(answer.transcript, reading)
    first, *others = (answer if each is reading else read(each) for each in readings)
    return replace(first, other=others[0] if others else None)


def compare_application(
    ledger: Ledger,
    shown: ReadAnswer,
    calls: Sequence[ReadAnswer],
    *,
    later: Sequence[Request] = (),
    hides: bool,
    serial: frozenset[str] = frozenset(),
    has_no_place: bool = False,
    is_played: bool = False,
    keeps_history: Callable[[], str] = str,
) -> None:
    """Judges what an application sent by what its provider sent to it.

    `later` are the requests to the provider in the turns that continue the shown one. `serial` are
    the rules of its protocol by which parts come in sequence: they do not apply if the provider's
    own parts overlap. `is_played` and `keeps_history` as in `ApplicationHops`.
    A truncated recording of one hop proves nothing about the other.
    """
    if any(each.exchange.end == "open" for each in (shown, *calls)):
        return
    calls = _as_shown(calls, shown)
    whole = ApplicationHops(
        *(tuple(calls), shown),
        made=read_content([each.transcript for each in calls]),
        sent=read_content([shown.transcript]),
        strings=_strings(shown),
        later=later,
        hides=hides,
        has_no_place=has_no_place,
        taken_back=_taken_back(shown),
        is_played=is_played,
        keeps_history=keeps_history,
    )
    hops = without_tries(whole)
    _withdraw_serial(ledger, hops, serial)
    for rule, compared in COMPARISONS:
        _write(ledger, rule, hops, compared(hops))
    _write(ledger, TRY_REPLACED, whole, try_replaced(whole))


def _withdraw_serial(ledger: Ledger, hops: ApplicationHops, serial: frozenset[str]) -> None:
    if overlap(hops.made):
        broken = {found.rule for found in ledger.findings} & serial
        ledger.withdraw(broken, "the provider's own parts overlap", _NAME)


def _taken_back(shown: ReadAnswer) -> int:
    """The last event by which the interface forgets what it was shown; 0 where there is none."""
    forgets = shown.dialect.takes_back
    traced = shown.dialect.trace(shown.exchange, shown.reading) if forgets else ()
    numbers = (e.number for each in traced for e in each.events if e.type in forgets)
    return max(numbers, default=0)


def _as_shown(calls: Sequence[ReadAnswer], shown: ReadAnswer) -> Sequence[ReadAnswer]:
    """The provider's answers; of two possible readings, the one that the application chose."""
    if all(each.other is None for each in calls):
        return calls
    candidates = (calls, [each.other or each for each in calls])
    for kind in ("thinking", "text"):
        sent = "".join(getattr(shown.transcript, kind))
        for answers in candidates:
            generated = "".join(text for each in answers for text in getattr(each.transcript, kind))
            if sent and generated.startswith(sent):
                return answers
    return calls


def _write(ledger: Ledger, rule: Rule, hops: ApplicationHops, found: Compared) -> None:
    if isinstance(found, HopDifference):
        ledger.add(rule.id, Verdict.FAIL, findings=(_finding(rule, hops, found),), by=_NAME)
    elif isinstance(found, str):
        ledger.add(rule.id, Verdict.NOT_APPLICABLE, found, by=_NAME)
    elif found:
        ledger.add(rule.id, Verdict.PASS, by=_NAME)


def _finding(rule: Rule, hops: ApplicationHops, found: HopDifference) -> Finding:
    exchange = hops.shown.exchange
    where = f"{exchange.scenario}/{exchange.role}/{exchange.number}/wire"
    memory = _memory_of(hops.shown, found.sent.number)
    about = About(change=found.change)
    violation = Violation(found.sent.number, {}, (), "", "", found.message, about=about)
    return make_finding(rule, violation, memory, where, _provider_event(hops, found.made))


def _provider_event(hops: ApplicationHops, place: EventPlace) -> ReferencedEvent:
    answer = hops.calls[place.answer]
    memory = _memory_of(answer, place.number)
    shown = next((each for each in memory.around(place.number) if each.at), None)
    return ReferencedEvent(
        file=answer.source[0],
        exchange=answer.source[1],
        event=place.number,
        line=None,
        byte=memory.offset(place.number),
        type=shown.type if shown else "",
        text=shown.text if shown else "",
    )


def _memory_of(answer: ReadAnswer, number: int) -> RecentFrames:
    return frames_until(answer.exchange, answer.dialect, answer.reading, number)


def frames_until(
    exchange: Exchange, dialect: Dialect, reading: Reading, number: int
) -> RecentFrames:
    """The frames up to that number, read anew: few streams have a finding."""
    memory = RecentFrames()
    for traced in dialect.trace(exchange, reading):
        if traced.number > number:
            break
        if traced.frame is not None:
            memory.keep(traced.number, traced.frame, traced.events)
        elif traced.number:
            size = len(exchange.body)
            memory.remember(traced.number, "end of stream", exchange.end, size)
    return memory


def _strings(answer: ReadAnswer) -> dict[str, list[tuple[int, str]]]:
    """Every string of the payloads by its path, with the number of its event."""
    found: dict[str, list[tuple[int, str]]] = {}
    for traced in answer.dialect.trace(answer.exchange, answer.reading):
        if traced.frame is not None and traced.frame.kind != "comment":
            payload = frame_payload(traced.frame)
            for path, text in _strings_below(None if payload is NOT_JSON else payload, ""):
                found.setdefault(path, []).append((traced.number, text))
    return found


def _strings_below(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _strings_below(each, f"{path}.{key}")
    elif isinstance(value, list):
        for each in value:
            yield from _strings_below(each, path)
