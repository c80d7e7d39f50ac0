"""The next turn says what was said: checked against follow-ups that clients really send."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.cassette import read
from conformance.core import shipped
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.dialects import get
from conformance.dialects.base import Reading
from conformance.judging.transcript import Transcript, read_transcript
from conformance.runs.turns import MOST_CHARACTERS, next_turns
from conformance.scenarios import Carry

ASKED = [{"role": "user", "content": "Does the ferry sail?"}]


def shipped_round(name: str) -> tuple[Exchange, Exchange]:
    first, second = read(shipped.cassettes() / name).exchanges
    return first, second


def body(payload: Any) -> Exchange:
    head = Response(200, "1.1", (("content-type", "application/json"),))
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return Exchange(request=Request(), response=head, chunks=(Chunk(data),))


def answer(dialect: str, exchange: Exchange) -> Transcript:
    return read_transcript(exchange, get(dialect), Reading(), keep="wire")


@pytest.mark.parametrize(
    ("name", "dialect", "history", "output"),
    [
        ("openai.chat/deepseek/tool-round", "openai.chat", "messages", "content"),
        ("openai.responses/openai/tool-round", "openai.responses", "input", "output"),
    ],
)
def test_a_follow_up_is_what_a_client_would_send(
    name: str, dialect: str, history: str, output: str
) -> None:
    first, second = shipped_round(f"{name}.cassette.jsonl")
    assert first.request is not None
    assert second.request is not None
    wanted = second.request.json[history]
    carry = Carry("tool-turn", result=wanted[-1][output])
    assert next_turns(dialect, answer(dialect, first), first.request.json, carry) == wanted


def test_signed_blocks_go_back_unchanged() -> None:
    path = shipped.cassettes() / "anthropic.messages/anthropic/thinking-then-tools.cassette.jsonl"
    (first,) = read(path).exchanges
    carry = Carry("tool-turn", result="five")
    came = answer("anthropic.messages", first)
    history = next_turns("anthropic.messages", came, {"messages": ASKED}, carry)
    assert history is not None
    assert history[0] == ASKED[0]
    said, answered = history[1:]
    assert said["content"][0]["type"] == "thinking"
    assert said["content"][0]["thinking"]
    assert said["content"][0]["signature"]
    calls = [block for block in said["content"] if block["type"] == "tool_use"]
    assert all(isinstance(call["input"], dict) for call in calls)
    results = [block["tool_use_id"] for block in answered["content"]]
    assert results == [call["id"] for call in calls]


def test_a_stream_and_its_body_lead_to_the_same_turn() -> None:
    stream, whole = shipped_round("openai.chat/deepseek/stream-and-body.cassette.jsonl")
    carry = Carry("stream", ask="And then?")
    sent = {"messages": ASKED}
    one, other = (
        next_turns("openai.chat", answer("openai.chat", each), sent, carry)
        for each in (stream, whole)
    )
    assert one == other
    assert one is not None
    assert one[-1] == {"role": "user", "content": "And then?"}


@pytest.mark.parametrize("dialect", ["openai.chat", "openai.responses", "anthropic.messages"])
@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"<html>",
        {"choices": [{"message": {"content": None, "tool_calls": [{"id": 5}]}}]},
        {"object": "response", "output": [1, {"type": "function_call"}, {"type": "reasoning"}]},
        {"type": "message", "content": [1, {"type": "tool_use"}, {"type": "thinking"}]},
        {"error": {"message": "no"}},
    ],
    ids=repr,
)
def test_whatever_came_no_turn_is_made_of_nothing(dialect: str, payload: Any) -> None:
    for carry in (Carry("a", ask="And?"), Carry("a", result="5"), Carry("a", "dropped", ask="?")):
        history = next_turns(dialect, answer(dialect, body(payload)), {}, carry)
        assert history is None or isinstance(history, list)


def test_a_history_that_grew_too_long_is_not_sent() -> None:
    message = {"role": "assistant", "content": "x" * MOST_CHARACTERS}
    whole = body({"object": "chat.completion", "choices": [{"index": 0, "message": message}]})
    carry = Carry("a", ask="?")
    assert (
        next_turns("openai.chat", answer("openai.chat", whole), {"messages": ASKED}, carry) is None
    )
