"""What the judge tells a transcript on its way is what reading the bytes again would give."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import discover, open_recording
from conformance.core import shipped
from conformance.core.events import Chunk, Ending, Exchange, Request, Response
from conformance.core.reading import Reading
from conformance.dialects import get
from conformance.dialects.recognition import recognised_dialect
from conformance.judging.fast.running import check_wire
from conformance.judging.rulebook import Rulebook
from conformance.judging.transcript import Transcript, read_transcript
from conformance.judging.view import JudgeSetting
from conformance.profiles.lookup import find
from conformance.profiles.profile import reading

FILES = discover(shipped.cassettes())[::9]
RULES = Rulebook.load()
LONG = [
    b'data: {"id":"c","choices":[{"index":0,"delta":{"%b":"word %d "}}]}\n\n' % (name, n)
    for name in (b"reasoning_content", b"content")
    for n in range(200)
]


def facts(transcript: Transcript) -> dict[str, Any]:
    texts = {
        name: "".join(getattr(transcript, name)) for name in ("thinking", "raw", "summary", "text")
    }
    names = ("order", "tools", "opaque", "finishes", "errors", "usage", "done", "listed")
    others = {name: getattr(transcript, name) for name in (*names, "choices", "last", "types")}
    around = transcript.memory.around(transcript.last)
    return {**texts, **others, "around": around, "ending": transcript.ending}


def judged(exchange: Exchange, dialect: str, *, keep: bool) -> dict[str, Any]:
    profile = find("strict", dialect)
    setting = JudgeSetting(get(dialect), profile, RULES.bound(profile), keep=keep)
    transcript = Transcript(exchange)
    check_wire(setting, exchange, exchange.chunks, exchange.end, transcript=transcript)
    return facts(transcript)


def read(exchange: Exchange, dialect: str) -> dict[str, Any]:
    return facts(read_transcript(exchange, get(dialect), reading(find("strict", dialect))))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("keep", [False, True])
def test_a_recording_is_read_once_with_the_same_outcome(path: Path, keep: bool) -> None:
    for exchange in open_recording(path).exchanges:
        dialect = exchange.dialect or recognised_dialect(exchange)
        if dialect is not None:
            assert judged(exchange, dialect, keep=keep) == read(exchange, dialect)


@pytest.mark.parametrize("cut", [None, 1, 7])
def test_deltas_that_are_judged_in_bulk_say_the_same(cut: int | None) -> None:
    def pieces(data: bytes) -> Sequence[bytes]:
        return [data[at : at + (cut or len(data))] for at in range(0, len(data), cut or len(data))]

    chunks = tuple(Chunk(piece) for piece in pieces(b"".join([*LONG, b"data: [DONE]\n\n"])))
    exchange = Exchange(chunks=chunks)
    assert judged(exchange, "openai.chat", keep=False) == read(exchange, "openai.chat")


def test_only_the_layer_that_is_asked_for_is_kept() -> None:
    exchange = Exchange(chunks=(Chunk(b"".join(LONG[:3])),))
    ways = get("openai.chat"), reading(find("strict", "openai.chat"))
    assert read_transcript(exchange, *ways).events == []
    wire = read_transcript(exchange, *ways, keep="wire")
    assert {event.layer for event in wire.events} == {"wire"}
    spoken = read_transcript(exchange, *ways, keep="semantic").client_events
    assert spoken[2] == {"type": "thinking.delta", "text": "word 0 ", **spoken[2]}


@pytest.mark.parametrize(
    ("why", "ending"),
    [
        ({"reason": "max_output_tokens"}, "length"),
        ({"reason": "length"}, "length"),
        ({"reason": "content_filter"}, "filtered"),
        ({"reason": "upstream_eof"}, "cut"),
        ({"reason": "steered"}, "cut"),
        (None, "cut"),
    ],
)
def test_incomplete_response_is_no_answer(why: dict[str, str] | None, ending: str) -> None:
    response = {"id": "r", "object": "response", "status": "incomplete", "output": []}
    closing = {"type": "response.incomplete", "response": {**response, "incomplete_details": why}}
    body = b"event: response.incomplete\ndata: %b\n\n" % json.dumps(closing).encode()
    exchange = Exchange(chunks=(Chunk(body, 0.0),), end="eof")
    assert read(exchange, "openai.responses")["ending"] == ending


@pytest.mark.parametrize(("method", "ending"), [("GET", "complete"), ("POST", "cut")])
def test_a_list_of_models_answers_no_question(method: str, ending: str) -> None:
    body = b'{"object": "list", "data": [{"id": "m", "object": "model"}]}'
    response = Response(status=200, headers=(("content-type", "application/json"),))
    exchange = Exchange(request=Request(method), response=response, chunks=(Chunk(body),))
    assert read(exchange, "openai.chat")["ending"] == ending


@pytest.mark.parametrize("end", ["idle-timeout", "client-closed"])
def test_what_said_that_it_is_over_is_whole_though_it_stays_open(end: Ending) -> None:
    said = b'data: {"choices":[{"index":0,"delta":{"content":"4"},"finish_reason":"stop"}]}\n\n'
    for body, ending in ((said, "cut"), (said + b"data: [DONE]\n\n", "complete")):
        exchange = Exchange(dialect="openai.chat", chunks=(Chunk(body),), end=end)
        answer = read_transcript(exchange, get("openai.chat"), Reading())
        assert (answer.ending, answer.client_end) == (ending, "either")
