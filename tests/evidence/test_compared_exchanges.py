"""Comparisons of answers that a server did not give."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, Header
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory
from conformance.rules.verdicts import Verdict

RULE = "stripping/opt-in/stream-equals-body"
ANSWERED = (
    b'{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"4"},"finish_reason":"stop"}]}'
)


def exchange(number: int, role: str, status: int) -> Exchange:
    body = ANSWERED if status == 200 else b'{"error":{"message":"no schema","type":"x"}}'
    head = Response(status, "1.1", (("content-type", "application/json"),))
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    made = Exchange(
        number=number,
        request=Request("POST", "/v1/chat/completions", (), asked),
        response=head,
        chunks=(Chunk(body),),
    )
    return replace(made, role=role)


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        ((400, 400), Verdict.NOT_APPLICABLE),
        ((200, 400), Verdict.INCONCLUSIVE),
        ((200, 200), Verdict.PASS),
    ],
)
def test_missing_answers_are_not_compared(statuses: tuple[int, int], verdict: Verdict) -> None:
    pair = enumerate(zip(("stream", "body"), statuses, strict=True), 1)
    exchanges = tuple(exchange(number, *each) for number, each in pair)
    cassette = Cassette(Header(origin="synthetic", dialect="openai.chat"), exchanges)
    held = InMemory(Path("format.cassette.jsonl"), "cassette", cassette)
    results = check_recording(held, Rulebook.load(()), CheckChoices(profile="strict"))
    last = results[-1]
    assert last.verdicts[RULE] is verdict
    if verdict is Verdict.NOT_APPLICABLE:
        assert last.reasons[RULE] == "no compared request was answered"
