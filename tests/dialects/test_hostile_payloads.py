"""No payload makes a reader raise, grow without bound, or say what the vocabulary lacks."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance import dialects
from conformance.cassette import open_recording
from conformance.core import shipped
from conformance.core.events import SEMANTIC_EVENTS, Event, Frame, Request
from conformance.core.framing import exchange_frames
from conformance.core.json_values import put_at
from conformance.dialects import Reading
from tests.dialects.conftest import payload_of
from tests.growth import grows_linearly

ReadStream = Callable[..., list[Event]]
DIALECTS = tuple(dialects.SUPPORTED)

KEYS = st.sampled_from(
    [
        *("choices", "delta", "index", "content", "reasoning", "reasoning_details", "tool_calls"),
        *("finish_reason", "usage", "error", "type", "item", "output_index", "summary_index"),
        *("response", "output", "part", "text", "thinking", "object", "id", "message", "role"),
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 10**30, 2**63, 1.5, "", "x", "stop", "reasoning", "message"]),
    st.sampled_from(sorted(dialects.SUPPORTED["openai.responses"].vocabulary.wire)),
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5)
)

BLOCK = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [
                *("thinking", "text", "redacted_thinking", "tool_use", "server_tool_use", "later"),
                *("thinking_delta", "text_delta", "signature_delta", "input_json_delta"),
            ]
        )
    },
    optional=dict.fromkeys(
        [
            *("text", "thinking", "signature", "data", "partial_json", "input", "id", "name"),
            *("stop_reason", "output_tokens", "output_tokens_details", "role", "content"),
        ],
        JSON,
    ),
)

CHUNK = {
    "id": "c",
    "object": "chat.completion.chunk",
    "choices": [
        {
            "index": 0,
            "delta": {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}],
                "reasoning_content": "a",
                "reasoning_details": [{"type": "reasoning.text", "text": "a", "signature": "s"}],
                "thinking_blocks": [{"type": "thinking", "thinking": "a", "signature": "s"}],
                "reasoning_opaque": "o",
                "refusal": "no",
                "tool_calls": [{"index": 0, "id": "t", "function": {"name": "f", "arguments": ""}}],
            },
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens_details": {"reasoning_tokens": 1}},
    "error": {"code": 400, "message": "bad"},
}
ITEM = {
    "type": "reasoning",
    "id": "rs",
    "summary": [{"type": "summary_text", "text": "s"}],
    "content": [{"type": "reasoning_text", "text": "r"}],
    "encrypted_content": "e",
    "call_id": "c",
    "name": "f",
    "arguments": "{}",
}
EVENT = {
    "type": "response.output_item.done",
    "output_index": 0,
    "summary_index": 0,
    "content_index": 0,
    "item_id": "rs",
    "delta": "d",
    "text": "t",
    "arguments": "{}",
    "part": {"type": "summary_text", "text": "p"},
    "item": ITEM,
    "response": {
        "id": "r",
        "status": "completed",
        "output": [ITEM],
        "usage": {"input_tokens": 1, "output_tokens_details": {"reasoning_tokens": 1}},
        "incomplete_details": {"reason": "max_output_tokens"},
        "error": {"code": "x", "message": "y"},
    },
}
BODY = {"object": "response", "status": "completed", "output": [ITEM], "usage": {}}


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = [at]
    for key, child in inner:
        found += paths(child, (*at, key)) if isinstance(child, dict | list) else [(*at, key)]
    return found


@st.composite
def mutated(draw: st.DrawFn, original: dict[str, Any]) -> Any:
    """The original with another value at one to three places."""
    value: Any = copy.deepcopy(original)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(paths(value) if isinstance(value, dict) else [()]))
        new = draw(JSON)
        if not path:
            return new
        holder = value
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = new
    return value


TYPED = st.sampled_from(sorted(dialects.SUPPORTED["openai.responses"].vocabulary.wire)).map(
    lambda kind: {**EVENT, "type": kind}
)
# Events of Messages, with what they carry in another's place.
MESSAGES = st.fixed_dictionaries(
    {"type": st.sampled_from(sorted(dialects.SUPPORTED["anthropic.messages"].vocabulary.wire))},
    optional={
        "index": st.sampled_from([0, 1, -1, None, "0", 1.0]),
        **dict.fromkeys(("delta", "content_block", "message", "usage"), BLOCK | JSON),
    },
)
FRAMES = st.one_of(
    MESSAGES,
    st.builds(lambda body: {"body": body}, MESSAGES),
    JSON.map(lambda value: {"data": "null"} if isinstance(value, str) else value),
    mutated(CHUNK),
    mutated(EVENT),
    TYPED,
    st.builds(lambda body: {"body": body}, st.one_of(mutated(BODY), mutated(CHUNK), JSON)),
    st.sampled_from(["[DONE]", "not json", "null"]),
    st.builds(lambda data: {"event": "error", "data": data}, mutated(CHUNK)),
)


@settings(max_examples=200)
@given(
    frames=st.lists(FRAMES, max_size=8),
    end=st.sampled_from(["eof", "reset", "open"]),
    marked=st.booleans(),
)
def test_no_reader_fails(
    frames: list[Any], end: str, marked: bool, read_stream: ReadStream
) -> None:
    """To make payloads up takes longer than to read them: every dialect reads the same ones."""
    reading = Reading(
        markers=(("<think>", "</think>"),) if marked else (),
        fields={"thinking": ("a.b", "content"), "opaque": ("x",), "text": ("message.text",)},
    )

    for dialect in DIALECTS:
        try:
            assert_in_order(read_stream(dialect, frames, reading, end))
        except Exception as fault:
            fault.add_note(dialect)
            raise


def assert_in_order(events: list[Event]) -> None:
    # What ends an answer comes before the frame that begins the next one.
    assert events == sorted(events, key=lambda e: (e.number, e.answer, e.layer == "semantic"))
    for event in events:
        assert event.layer == "wire" or set(event.data) <= SEMANTIC_EVENTS[event.type] | {"choice"}
        assert isinstance(event.data, dict)
        assert not event.type.endswith(".delta") or event.layer == "wire" or says_something(event)


def says_something(event: Event) -> bool:
    return bool(event.data.get("text") or event.data.get("arguments"))


@settings(max_examples=200)
@given(body=JSON)
def test_no_request_makes_a_reader_raise(body: Any) -> None:
    for dialect in DIALECTS:
        events = dialects.get(dialect).reader(Reading()).request(Request(json=body))
        assert {event.type for event in events} <= {"request", "request.item"}, dialect
        assert {event.number for event in events} <= {0}, dialect


def tool_chunk(index: int) -> dict[str, Any]:
    return {"choices": [{"delta": {"tool_calls": [{"index": index, "id": f"t{index}"}]}}]}


def part_added(index: int) -> dict[str, Any]:
    kind = "response.reasoning_summary_part.added"
    return {"type": kind, "output_index": 0, "summary_index": index}


def block_started(index: int) -> dict[str, Any]:
    block = {"type": "thinking", "thinking": "", "signature": ""}
    return {"type": "content_block_start", "index": index, "content_block": block}


def thinking_delta(index: int) -> dict[str, Any]:
    delta = {"type": "thinking_delta", "thinking": "a"}
    return {"type": "content_block_delta", "index": index, "delta": delta}


REASONING = {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}}


@pytest.mark.parametrize(
    ("dialect", "frames"),
    [
        pytest.param(
            "openai.chat",
            [{"choices": [{"index": n, "delta": {"content": "x"}} for n in range(10_000)]}],
            id="choices in one chunk",
        ),
        pytest.param(
            "openai.chat",
            [{"choices": [{"index": n, "delta": {"content": "x"}}]} for n in range(10_000)],
            id="choices one by one",
        ),
        pytest.param("openai.chat", [tool_chunk(n) for n in range(10_000)], id="tools"),
        pytest.param(
            "openai.responses",
            [{**REASONING, "output_index": n} for n in range(10_000)],
            id="items",
        ),
        pytest.param(
            "openai.responses", [REASONING, *(part_added(n) for n in range(10_000))], id="parts"
        ),
        pytest.param(
            "openai.responses",
            [{"body": {"object": "response", "output": [{"type": "reasoning"}] * 10_000}}],
            id="items of a body",
        ),
        pytest.param("anthropic.messages", [block_started(n) for n in range(10_000)], id="blocks"),
        pytest.param(
            "anthropic.messages", [thinking_delta(n) for n in range(10_000)], id="deltas of blocks"
        ),
    ],
)
def test_cap_ends_in_one_overflow(dialect: str, frames: list[Any], read_stream: ReadStream) -> None:
    events = read_stream(dialect, [*frames, "[DONE]"])

    overflows = [event for event in events if event.type == f"{dialect}.overflow"]
    assert len(overflows) == 1
    last = max(event.number for event in events if event.layer == "semantic")
    assert last <= overflows[0].number
    assert sum(event.layer == "wire" for event in events) > 10_000


def _many_choices(size: int) -> list[Any]:
    return [{"choices": [{"index": n, "delta": {"content": "x"}} for n in range(size)]}]


def _many_blocks(size: int) -> list[Any]:
    return [block_started(n) for n in range(size)]


def _many_items(size: int) -> list[Any]:
    return [{**REASONING, "output_index": n} for n in range(size)]


@pytest.mark.parametrize(
    ("dialect", "opening", "repeated"),
    [
        ("openai.chat", _many_choices, "[DONE]"),
        ("openai.responses", _many_items, {"type": "response.completed", "response": {}}),
        *(
            pytest.param(
                "anthropic.messages",
                _many_blocks,
                {"type": kind, "index": 0},
                marks=pytest.mark.slow,
                id=kind,
            )
            for kind in ("message_stop", "message_start", "content_block_stop")
        ),
    ],
)
def test_many_ends_take_linear_time(
    dialect: str, opening: Callable[[int], list[Any]], repeated: Any, read_stream: ReadStream
) -> None:
    def read(size: int) -> None:
        read_stream(dialect, [*opening(size * 4 // 10), *[repeated] * size])

    assert grows_linearly(read, 10_000)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_types_that_are_no_texts_have_no_columns(dialect: str) -> None:
    odd: dict[str, Any] = {"type": {}, "method": [], "event": {"type": {}, "delta": {"type": []}}}
    odd["params"] = {"type": {}, "update": {"sessionUpdate": [], "content": {"text": "a"}}}
    odd["params"]["delta"] = "a"
    assert dialects.SUPPORTED[dialect].columns(odd, Reading()) is None


OTHERS: Any = (None, True, -1, 1.5, "", "x", [], [1], ["x"], {}, {"a": [1]})


@cache
def recorded_frames(dialect: str) -> list[list[Frame]]:
    """Frames of a few short recordings, each of which has an event that the others lack."""
    known: set[str] = set()
    found = []
    for path in sorted((shipped.cassettes() / dialect).rglob("*.cassette.jsonl")):
        for exchange in open_recording(path).exchanges:
            read = exchange_frames(exchange, dialects.get(dialect).framing)
            frames = [frame for frame, _ in read]
            kinds = {kind_of(payload_of(frame)) for frame in frames}
            if len(frames) < 60 and kinds - known:
                known |= kinds
                found.append(frames)
    return found


def kind_of(payload: Any) -> str:
    return repr(sorted(payload)) + str(payload.get("type")) if isinstance(payload, dict) else ""


@pytest.mark.parametrize("dialect", DIALECTS)
def test_any_recorded_value_may_be_another_one(dialect: str, read_stream: ReadStream) -> None:
    seen: set[tuple[Any, ...]] = set()
    for frames in recorded_frames(dialect):
        for number, frame in enumerate(frames):
            payload = payload_of(frame)
            places = paths(payload) if isinstance(payload, dict) else []
            for path in [each for each in places if (kind_of(payload), *each) not in seen]:
                seen.add((kind_of(payload), *path))
                for other in OTHERS:
                    data = json.dumps(put_at(payload, path, other))
                    hostile = [*frames[:number], replace(frame, data=data), *frames[number + 1 :]]
                    read_stream(dialect, hostile)
