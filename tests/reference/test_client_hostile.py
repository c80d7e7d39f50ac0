"""Whatever a server sends, the client reports events: it never raises, and it stays bounded."""

from __future__ import annotations

import json
import string
import struct
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.core.binary import encode_message
from reference_impl.client import Event, Reader, Reading
from reference_impl.client.event import TYPES
from reference_impl.client.frame import MOST_BYTES
from reference_impl.client.reader import MOST_BODY_BYTES
from reference_impl.client.responses import READERS, TERMINAL
from reference_impl.client.turn import Answer
from reference_impl.client.wire import Api

APIS: tuple[Api, ...] = (
    *("chat", "responses", "messages"),
    *("gemini", "interactions", "cohere", "bedrock"),
)
BLOCKS = ("content_block_start", "content_block_delta", "content_block_stop", "message_start")
OF_COHERE = (
    *("message-start", "content-start", "content-delta", "content-end", "tool-plan-delta"),
    *("tool-call-start", "tool-call-delta", "tool-call-end", "message-end"),
)
OF_STEPS = ("interaction.created", "step.start", "step.delta", "step.stop", "interaction.completed")
OF_CONVERSE = (
    *("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop"),
    *("messageStop", "metadata"),
)
KINDS = (
    *(*READERS, *TERMINAL, *BLOCKS, "message_delta", "message_stop", "error", "ping"),
    *(*OF_COHERE, *OF_STEPS, *OF_CONVERSE),
)
FIELDS = (
    *("choices", "delta", "message", "content", "reasoning", "reasoning_content", "index", "role"),
    *("reasoning_details", "thinking_blocks", "tool_calls", "function", "arguments", "name", "id"),
    *("finish_reason", "usage", "error", "item", "item_id", "output_index", "summary_index"),
    *("content_index", "part", "text", "summary", "response", "output", "status", "content_block"),
    *("thinking", "signature", "partial_json", "stop_reason", "input", "data", "refusal", "closed"),
    *("candidates", "parts", "thought", "functionCall", "step", "steps", "interaction", "errors"),
    *("contentBlockIndex", "reasoningContent", "reasoningText", "toolUse", "start", "tool_plan"),
)
NAMES = ("thinking", "text", "tool_use", "reasoning", "message", "function_call", "text_delta")
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.just(10**30),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.sampled_from(["\ud83e", "\udde0", "assistant", "stop", "completed", *NAMES]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    ),
    max_leaves=12,
)
PAYLOADS = st.builds(
    lambda kind, fields: {"type": kind, "event_type": kind, **fields},
    st.sampled_from([*KINDS, "later", None]),
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6),
)


def read(api: Api, data: bytes, *, status: int = 200, how: str = "eof") -> list[Event]:
    reader = Reader(api, Reading((("<think>", "</think>"),)), status=status)
    return [*reader.feed(data), *reader.close(how)]


def stream(payloads: list[Any], api: Api = "chat") -> bytes:
    return b"".join(
        framed(api, json.dumps(payload), str(payload.get("type"))) for payload in payloads
    )


def framed(api: Api, text: str, kind: str = "contentBlockDelta") -> bytes:
    """One frame of a stream as the API has it."""
    if api == "bedrock":
        return encode_message([(":event-type", kind), (":message-type", "event")], text.encode())
    return f"data: {text}\n\n".encode()


def assert_sound(events: list[Event]) -> None:
    """Events are of known types, have no null, and tell exactly how the answer ended."""
    assert {event.type for event in events} <= set(TYPES)
    assert all(value is not None for event in events for value in event.data.values())
    assert not [
        event for event in events if event.type.endswith("delta") and "" in event.data.values()
    ]
    assert sum(event.type == "cut" for event in events) <= 1
    assert any(event.type in ("cut", "done", "error") for event in events)
    turn = Answer().take(events).turn()
    json.dumps([event.plain() for event in events])
    turn.text.encode()


@settings(max_examples=100)
@given(st.sampled_from(APIS), st.lists(PAYLOADS, max_size=8))
def test_payloads_of_any_shape_are_read(api: Api, payloads: list[Any]) -> None:
    assert_sound(read(api, stream(payloads, api)))


@settings(max_examples=40)
@given(st.sampled_from(APIS), PAYLOADS, st.sampled_from([200, 204, 302, 400, 500]))
def test_bodies_of_any_shape_are_read(api: Api, payload: Any, status: int) -> None:
    assert_sound(read(api, json.dumps(payload).encode(), status=status))


@settings(max_examples=40)
@given(st.sampled_from(APIS), st.binary(max_size=200))
def test_bytes_of_any_kind_are_read(api: Api, data: bytes) -> None:
    assert_sound(read(api, data))
    assert_sound(read(api, b"data: " + data + b"\n\n"))


DEEP = "[" * 100_000 + "]" * 100_000
ODD = {
    "deep": f'{{"choices":{DEEP}}}',
    "digits": f'{{"index":{"9" * 10_000}}}',
    "not a number": '{"usage":{"prompt_tokens":NaN}}',
    "no JSON": "{" + string.printable,
    "a null": "null",
}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_a_broken_payload_spoils_no_other(api: Api, text: str) -> None:
    line = " ".join(text.split())
    events = read(api, framed(api, line) + GOOD[api])
    assert "".join(e.data["text"] for e in events if e.type == "text.delta") == "ok"


GOOD: dict[Api, bytes] = {
    "chat": stream([{"choices": [{"index": 0, "delta": {"content": "ok"}}]}]),
    "messages": stream(
        [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ok"}}]
    ),
    "responses": stream([{"type": "response.output_text.delta", "delta": "ok"}]),
    "gemini": stream([{"candidates": [{"content": {"parts": [{"text": "ok"}]}}]}]),
    "interactions": stream([{"event_type": "step.delta", "delta": {"type": "text", "text": "ok"}}]),
    "cohere": stream(
        [{"type": "content-delta", "delta": {"message": {"content": {"text": "ok"}}}}]
    ),
    "bedrock": framed("bedrock", '{"contentBlockIndex":0,"delta":{"text":"ok"}}'),
}


@pytest.mark.parametrize("depth", [200, 300, 900, 5_000])
def test_deep_arguments_are_read_or_passed_over(depth: int) -> None:
    text = '{"a":' * depth + "1" + "}" * depth
    call = f'{{"id":"c","function":{{"name":"f","arguments":{text}}}}}'
    line = f'data: {{"choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}\n\n'
    assert len(Answer().take(read("chat", line.encode())).turn().calls) == (depth < 250)


# Says that it goes on for longer than any client wants to wait.
ENDLESS = struct.pack(">II", MOST_BYTES + 1, 0)
ENDLESS += struct.pack(">I", crc32(ENDLESS))


@pytest.mark.parametrize("api", APIS)
def test_an_endless_event_is_a_protocol_error(api: Api) -> None:
    reader = Reader(api)
    chunk = ENDLESS if api == "bedrock" else b"data: " + b"x" * (MOST_BYTES // 4)
    events = [event for _ in range(6) for event in reader.feed(chunk)]
    assert [event.type for event in events] == ["error", "cut"]
    assert events[1].data["how"] == "protocol-error"
    assert reader.close("eof") == []


@pytest.mark.parametrize("api", APIS)
def test_an_endless_body_is_a_protocol_error(api: Api) -> None:
    reader = Reader(api)
    chunk = b"{" * (MOST_BODY_BYTES // 4)
    events = [event for _ in range(6) for event in reader.feed(chunk)]
    assert [event.type for event in events] == ["error", "cut"]


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (500, b"", "HTTP 500"),
        (502, b"<html><h1>Bad Gateway</h1></html>", "HTTP 502: <html><h1>Bad Gateway</h1></html>"),
        (302, b"moved", "HTTP 302: moved"),
        (200, b"<html>login</html>", "neither a stream nor JSON: <html>login</html>"),
        (429, b'{"error": {"message": "slow down", "type": "rate"}}', "slow down"),
        (400, b'{"detail": "no"}', 'HTTP 400: {"detail": "no"}'),
        (200, b'{"error": {"message": "late"}}', "late"),
    ],
)
@pytest.mark.parametrize("api", APIS)
def test_what_is_no_answer_is_an_error(api: Api, status: int, body: bytes, message: str) -> None:
    answer = Answer().take(read(api, body, status=status))
    assert answer.how == "failed"
    assert answer.error is not None
    assert answer.error["message"] == message
    assert answer.error.get("status") == (status if status >= 300 else None)


@pytest.mark.parametrize("api", [api for api in APIS if api != "gemini"])
def test_an_array_is_an_error_where_no_stream_is_one(api: Api) -> None:
    answer = Answer().take(read(api, b"[1]"))
    assert answer.error is not None
    assert answer.error["message"] == "neither a stream nor JSON: [1]"


@pytest.mark.parametrize("api", ["bedrock", "cohere"])
def test_a_refusal_may_name_its_error_message(api: Api) -> None:
    answer = Answer().take(read(api, b'{"message": "no such model"}', status=404))
    assert answer.error == {"code": "", "message": "no such model", "status": 404}


@pytest.mark.parametrize("halves", [("a\ud83e", "\udde0b"), ("a\ud83e", "", "\udde0b")])
def test_halves_of_a_character_are_joined(halves: tuple[str, ...]) -> None:
    chunks = [{"choices": [{"index": 0, "delta": {"content": half}}]} for half in halves]
    events = read("chat", stream(chunks))
    assert "".join(e.data["text"] for e in events if e.type == "text.delta") == "a\U0001f9e0b"


def test_half_a_character_alone_is_replaced_before_the_block_ends() -> None:
    events = read("chat", stream([{"choices": [{"index": 0, "delta": {"content": "a\ud83e"}}]}]))
    found = [(event.type, event.data.get("text")) for event in events]
    assert found[-4:] == [
        ("text.delta", "a"),
        ("text.delta", "\ufffd"),
        ("text.end", None),
        ("cut", None),
    ]


def test_a_second_marker_pair_that_never_comes_costs_nothing() -> None:
    pairs = (("<think>", "</think>"), ("[THINK]", "[/THINK]"))
    text = "<think>a</think>b" * 4_000
    reader = Reader("chat", Reading(pairs))
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    events = [*reader.feed(json.dumps(body).encode()), *reader.close("eof")]
    assert sum(event.type == "thinking.start" for event in events) == 4_000
