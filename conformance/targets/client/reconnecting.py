"""Answers that break off, before a client that asks for the rest.

Rule 1: only of a client that declares `reconnect`, and only where an event had an id: without one
        nothing says where to go on.
Rule 2: the next request is the same one, with the last id that was committed as `Last-Event-ID`, no
        earlier than `retry` says; a status of 204 ends it.
Rule 3: what is reported in the end is the whole answer, once.
https://html.spec.whatwg.org/multipage/server-sent-events.html#sse-processing-model; the cases are
those of web-platform-tests and LaunchDarkly's contract tests that a model's answer allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import Chunk, Ending, Exchange, Response
from conformance.judging import harness
from conformance.judging.result import StreamResult
from conformance.targets.client.adapter import ENDS
from conformance.targets.client.case_results import CaseSeries
from conformance.targets.client.client_judge import (
    ClientJudge,
    ClientLedger,
    HarnessFault,
    client_place,
    no_answer,
    stream_result,
)
from conformance.targets.client.conversation import hello_command
from conformance.targets.client.protocol import STREAM
from conformance.targets.client.replay_endpoint import ReplayedCase, short_answer

RECONNECT: Final = "reconnect"
_HEADER: Final = "last-event-id"
_WAIT: Final = 0.2  # seconds, as `retry` says in milliseconds
_EARLIEST: Final = 0.75  # of it: clocks differ
_NO_CONTENT: Final = 204


class BrokenAnswer(Struct, frozen=True):
    """The content of the first answers, and the ids that later requests must send.

    Every answer but the last ends in `end`; the last holds `rest`, or is a 204 without any.
    """

    name: str
    answers: tuple[bytes, ...]
    rest: bytes
    ids: tuple[str | None, ...]
    end: Ending = "protocol-error"
    wait: float = 0.0


def broken_answers(events: Sequence[bytes]) -> Iterator[BrokenAnswer]:
    """Every case, of an answer's events, at least three."""
    one, two = events[:2]
    rest = b"".join(events[2:])
    abc = b"id: abc\n" + one
    retry = b"retry: 200\n"
    yield BrokenAnswer("id", (b"id: 1\n" + one + b"id: 2\n" + two,), rest, ("2",))
    yield BrokenAnswer("id-of-an-earlier-event", (abc + two,), rest, ("abc",))
    yield BrokenAnswer("id-taken-back", (abc + b"id\n" + two,), rest, (None,))
    yield BrokenAnswer("id-with-nul", (abc + b"id: a\0b\n" + two,), rest, ("abc",))
    yield BrokenAnswer("id-without-data", (one + two + b"id: 7\n\n",), rest, ("7",))
    half = b"id: def\n" + two.rstrip(b"\n") + b"\n"
    yield BrokenAnswer("id-of-half-an-event", (abc + half,), two + rest, ("abc",))
    yield BrokenAnswer("id-non-ascii", ("id: \u2026\n".encode() + one + two,), rest, ("\u2026",))
    yield BrokenAnswer("id-kept", (abc, two), rest, ("abc", "abc"))
    yield BrokenAnswer("nothing-but-an-id", (b"id: abc\n\n",), b"".join(events), ("abc",))
    yield BrokenAnswer("clean-end", (abc + two,), rest, ("abc",), "eof")
    yield BrokenAnswer("retry", (retry + abc + two,), rest, ("abc",), wait=_WAIT)
    late = retry + abc + b"retry: 1x\n" + two
    yield BrokenAnswer("retry-bogus", (late,), rest, ("abc",), wait=_WAIT)
    yield BrokenAnswer("no-content", (abc + two,), b"", ("abc",))


def judge_reconnecting(cases: CaseSeries) -> Iterator[StreamResult]:
    """Every case, judged; nothing of a client that does not declare it."""
    about, dialect = cases.endpoint.about, cases.dialect
    if RECONNECT not in about.features or STREAM not in about.ops:
        return
    whole = short_answer(dialect)
    for number, each in enumerate(broken_answers([chunk.data for chunk in whole.chunks]), 1):
        place = Exchange(number=number, scenario=RECONNECT, role=each.name, dialect=dialect)
        answers = _served_answers(each, whole)
        case = cases.endpoint.replay_in_turn(answers, dialect, hello_command(dialect))
        cases.count_case(STREAM, case.answered)
        made = _judge_case(cases.judging, each, place, whole, case)
        yield stream_result(cases.judging, place, made)


def _served_answers(each: BrokenAnswer, whole: Exchange) -> list[Exchange]:
    first = [
        replace(whole, number=n, chunks=(Chunk(data, 0.0),), end=each.end)
        for n, data in enumerate(each.answers, 1)
    ]
    last = replace(whole, number=len(first) + 1, chunks=(Chunk(each.rest, 0.0),))
    if not each.rest:
        last = replace(last, response=Response(_NO_CONTENT, "1.1"), chunks=())
    return [*first, last]


def _judge_case(
    judging: ClientJudge, each: BrokenAnswer, place: Exchange, whole: Exchange, case: ReplayedCase
) -> ClientLedger:
    """Judge the report against the answer, which is whole unless the last one is a 204."""
    where, answered = client_place(place), case.answered
    if answered.how not in ENDS:
        return no_answer(where, answered)
    sent = replace(whole, scenario=place.scenario, role=place.role, number=place.number)
    if not each.rest:
        chunks = tuple(Chunk(data, 0.0) for data in each.answers)
        sent = replace(sent, chunks=chunks, end="protocol-error")
    made = judging.judge_stream(judging.read_sent(sent), answered, "same")
    made.state_harness_rule(harness.ANSWERS)
    wrong = _request_fault(each, case)
    made.state_harness_rule(harness.RECONNECT, where, wrong, answered.events)
    return made


def _request_fault(each: BrokenAnswer, case: ReplayedCase) -> HarnessFault | None:
    seen = case.seen
    if len(seen) != len(each.ids) + 1:
        return f"{len(each.ids) + 1} requests", f"{len(seen)}"
    for again, wanted, waited in zip(seen[1:], each.ids, case.waits[1:], strict=True):
        got = _last_id(again.headers)
        if got != wanted:
            return f"Last-Event-ID {wanted!r}", f"{got!r}"
        if (again.method, again.path, again.body) != (seen[0].method, seen[0].path, seen[0].body):
            return "the same request again", f"{again.method} {again.path} with another body"
        if waited < each.wait * _EARLIEST:
            return f"a wait of {each.wait * 1000:.0f} ms", f"{waited * 1000:.0f} ms"
    return None


def _last_id(headers: Sequence[tuple[str, str]]) -> str | None:
    """The header as UTF-8, which is what the standard sends; None where there is none."""
    value = next((value for name, value in headers if name.lower() == _HEADER), None)
    return None if value is None else value.encode("latin-1", "replace").decode("utf-8", "replace")
