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
from conformance.dialects.requests import Continuation, Question
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
def test_follow_up_is_as_of_a_client(name: str, dialect: str, history: str, output: str) -> None:
    first, second = shipped_round(f"{name}.cassette.jsonl")
    assert first.request is not None
    assert second.request is not None
    wanted = second.request.json[history]
    carry = Carry("tool-turn", results=(wanted[-1][output],))
    assert next_turns(dialect, answer(dialect, first), first.request.json, carry) == wanted


def test_signed_blocks_go_back_unchanged() -> None:
    path = shipped.cassettes() / "anthropic.messages/anthropic/thinking-then-tools.cassette.jsonl"
    (first,) = read(path).exchanges
    carry = Carry("tool-turn", results=("five",))
    came = answer("anthropic.messages", first)
    history = next_turns("anthropic.messages", came, {"messages": ASKED}, carry)
    assert history is not None
    assert history[0] == ASKED[0]
    spoken, answered = history[1:]
    assert spoken["content"][0]["type"] == "thinking"
    assert spoken["content"][0]["thinking"]
    assert spoken["content"][0]["signature"]
    calls = [block for block in spoken["content"] if block["type"] == "tool_use"]
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


SIGNED = {"type": "thinking", "thinking": "Two and two.", "signature": "c2ln"}
TYPED = {"type": "reasoning.text", "text": "Two and two.", "signature": "c2ln", "index": 0}
OPAQUE = {"type": "reasoning.encrypted", "data": "eHg=", "id": "rs_1", "index": 1}
GOOGLE = {"google": {"thought_signature": "c2ln"}}
# What a server adds to a delta or a message, and what of it a client has in the end.
UNKNOWN: list[tuple[list[dict[str, Any]], dict[str, Any]]] = [
    (
        [
            {"reasoning_content": "Two ", "thinking_blocks": [{**SIGNED, "thinking": "Two "}]},
            {
                "reasoning_content": "and two.",
                "thinking_blocks": [{**SIGNED, "thinking": "and two."}],
            },
        ],
        {"reasoning_content": "Two and two.", "thinking_blocks": "two signed blocks"},
    ),
    (
        [
            {"thinking_blocks": [{"type": "thinking", "thinking": "Two ", "signature": None}]},
            {"thinking_blocks": [{"type": "thinking", "thinking": "and two.", "signature": ""}]},
            {"thinking_blocks": [{"type": "thinking", "thinking": "", "signature": "c2ln"}]},
        ],
        {"thinking_blocks": [SIGNED]},
    ),
    (
        [
            {
                "reasoning": "Two ",
                "reasoning_details": [{**TYPED, "text": "Two ", "signature": None}],
            },
            {"reasoning_details": [{"type": "reasoning.text", "text": "and two.", "index": 0}]},
            {"reasoning_details": [{"type": "reasoning.text", "signature": "c2ln", "index": 0}]},
            {"reasoning_details": [OPAQUE]},
        ],
        {"reasoning": "Two and two.", "reasoning_details": [TYPED, OPAQUE]},
    ),
    ([{"reasoning_text": "Two.", "reasoning_opaque": "eHg="}], {"reasoning_opaque": "eHg="}),
    ([{"extra_content": GOOGLE}, {"extra_content": None, "x": []}], {"extra_content": GOOGLE}),
]


@pytest.mark.parametrize(("deltas", "kept"), UNKNOWN)
def test_undocumented_parts_go_back(deltas: list[dict[str, Any]], kept: dict[str, Any]) -> None:
    if kept.get("thinking_blocks") == "two signed blocks":
        kept = {**kept, "thinking_blocks": [each["thinking_blocks"][0] for each in deltas]}
    came = streamed([*deltas, {"content": "4."}])
    history = next_turns("openai.chat", came, {"messages": ASKED}, Carry("a", ask="And?"))
    assert history is not None
    turn = history[1]
    assert {key: turn.get(key) for key in kept} == kept
    assert turn["content"] == "4."
    dropped = next_turns("openai.chat", came, {"messages": ASKED}, Carry("a", "dropped", ask="?"))
    assert dropped is not None
    assert dropped[1] == {"role": "assistant", "content": "4."}


def test_a_call_goes_back_with_what_it_came_with() -> None:
    first: dict[str, Any] = {"index": 0, "id": "call_1", "type": "function"}
    first["extra_content"] = GOOGLE
    deltas = [
        {"tool_calls": [{**first, "function": {"name": "add", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
    ]
    carry = Carry("a", results=("5",))
    history = next_turns("openai.chat", streamed(deltas), {"messages": ASKED}, carry)
    assert history is not None
    (call,) = history[1]["tool_calls"]
    function = {"name": "add", "arguments": "{}"}
    assert call == {
        "id": "call_1",
        "type": "function",
        "function": function,
        "extra_content": GOOGLE,
    }


def streamed(deltas: list[dict[str, Any]]) -> Transcript:
    """A stream of Chat Completions with these deltas."""
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choices: list[dict[str, Any]] = [{"index": 0, "delta": each} for each in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    lines = [json.dumps({**head, "choices": [each]}) for each in choices]
    data = "".join(f"data: {line}\n\n" for line in (*lines, "[DONE]")).encode()
    kind = (("content-type", "text/event-stream"),)
    exchange = Exchange(
        request=Request(), response=Response(200, "1.1", kind), chunks=(Chunk(data),)
    )
    return answer("openai.chat", exchange)


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
    for carry in (
        Carry("a", ask="And?"),
        Carry("a", results=("5",)),
        Carry("a", "dropped", ask="?"),
    ):
        history = next_turns(dialect, answer(dialect, body(payload)), {}, carry)
        assert history is None or isinstance(history, list)


def test_a_history_that_grew_too_long_is_not_sent() -> None:
    message = {"role": "assistant", "content": "x" * MOST_CHARACTERS}
    whole = body({"object": "chat.completion", "choices": [{"index": 0, "message": message}]})
    carry = Carry("a", ask="?")
    assert (
        next_turns("openai.chat", answer("openai.chat", whole), {"messages": ASKED}, carry) is None
    )


@pytest.mark.parametrize("dialect", ["anthropic.messages", "bedrock.converse", "gemini.generate"])
def test_an_answer_that_said_nothing_is_no_turn(dialect: str) -> None:
    """These APIs refuse a turn without content; the refusal would be about our own request."""
    form = get(dialect).request
    assert form is not None
    first = form.ask(Question("2 + 2?", 10, streams=True, thinks=True, summarises=False))
    after = Continuation(first, (), "", "", (), keeps_thinking=True, results=(), question="And?")
    assert [turn["role"] for turn in form.next_turns(after)] == ["user", "user"]


@pytest.mark.parametrize("ask", ["", "And tomorrow?"])
def test_a_call_that_a_scenario_does_not_answer_has_a_result(ask: str) -> None:
    """APIs refuse a call without one: what we send breaks no rule of histories."""
    call = {"index": 0, "id": "call_1", "function": {"name": "add", "arguments": "{}"}}
    came = streamed([{"tool_calls": [call]}])
    history = next_turns("openai.chat", came, {"messages": ASKED}, Carry("a", ask=ask))
    assert history is not None
    assert [turn["role"] for turn in history][1:3] == ["assistant", "tool"]
    assert history[2]["tool_call_id"] == "call_1"
    assert history[2]["content"]
