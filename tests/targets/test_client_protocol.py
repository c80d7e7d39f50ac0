"""The harness protocol: what is sent, what is taken, and what is refused with its reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.core.errors import HarnessError
from conformance.core.events import SEMANTIC_EVENTS
from conformance.targets.client.protocol import (
    _harness_schema,
    decode_answer,
    encode_command,
    read_introduction,
    request_of,
)

STREAM = {
    "cmd": "stream",
    "seq": "1",
    "dialect": "openai.chat",
    "base_url": "http://127.0.0.1:1/v1",
    "model": "m",
    "messages": [{"role": "user", "content": "half a pair: \ud83d"}],
    "options": {"effort": "low", "markers": [["<think>", "</think>"]]},
    "deadline_ms": 5000,
}


def test_a_command_is_one_line_of_ascii() -> None:
    line = encode_command(STREAM)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert json.loads(line) == STREAM


@pytest.mark.parametrize(
    "more", [{"expected": []}, {"deadline_ms": 0}, {"options": {"effort": "utmost"}}]
)
def test_what_the_protocol_does_not_have_is_never_sent(more: dict[str, Any]) -> None:
    with pytest.raises(HarnessError, match="our own command"):
        encode_command({**STREAM, **more})


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "not JSON"),
        (b"[1]", "no JSON object"),
        (b'{"seq":"1"}', "expected one of"),
        (b'{"seq":1,"end":{"how":"completed"}}', "seq: expected text, got 1"),
        (b'{"seq":"1","end":{"how":"ok"}}', "end.how"),
        (b'{"seq":"1","event":{"type":"thought"}}', "event.type"),
        (b'{"seq":"1","event":{"type":"text.delta","text":7}}', "event.text"),
        (b'{"seq":"1","skipped":""}', "skipped"),
        (b'{"seq":"1","request":{"json":[]}}', "request.json"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
    ],
)
def test_what_is_no_answer_is_shown_with_the_reason(line: bytes, why: str) -> None:
    with pytest.raises(HarnessError, match="the adapter wrote") as caught:
        decode_answer(line)
    assert why in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    "line",
    [
        b'{"seq":"1","event":{"type":"text.delta","text":"a","vendor":true}}',
        b'{"seq":"1","end":{"how":"cut"},"ms":3}',
        b'{"seq":null,"errored":{"message":"it failed"}}',
        b'{"seq":"1","request":{"json":{},"headers":[["a","b"]]}}',
        b'{"seq":"1","events":[]}',
    ],
)
def test_answers_are_taken_with_more_than_is_asked(line: bytes) -> None:
    assert decode_answer(line) == json.loads(line)


def test_half_a_character_does_not_end_a_run() -> None:
    answer = decode_answer(b'{"seq":"1","event":{"type":"text.delta","text":"\\ud83d!"}}')
    assert answer["event"]["text"] == "?!"


def test_a_request_is_held_as_a_recording_would() -> None:
    request = request_of({"json": {"model": "m"}, "headers": [["x-include-thinking", "true"]]})
    assert request.headers == (("x-include-thinking", "true"),)
    assert request.json == {"model": "m"}


def test_the_schema_knows_every_event() -> None:
    assert set(_harness_schema()["$defs"]["type"]["enum"]) == set(SEMANTIC_EVENTS)


@pytest.mark.parametrize(
    ("expected", "normalises"),
    [({}, True), ({"finish": "normalised"}, True), ({"finish": "as-sent"}, False)],
)
def test_stop_may_be_reported_as_calls(expected: dict[str, str], *, normalises: bool) -> None:
    about = {"name": "c", "language": "python", "version": "1", "dialects": ["openai.chat"]}
    lists = {"ops": ["stream"], "events": ["text.delta"]}
    found = read_introduction({"version": 1, "implementation": {**about, **lists, **expected}})
    assert found.normalises_finish is normalises
