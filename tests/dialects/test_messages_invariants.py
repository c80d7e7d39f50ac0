"""What holds of every Messages stream, however it is cut and whatever it carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import dialects
from conformance.core.events import SEMANTIC_EVENTS, Event
from tests.growth import grows_linearly

ReadStream = Callable[..., list[Event]]
NAME = "anthropic.messages"
VOCABULARY = dialects.get(NAME).vocabulary
TEXT = st.text(alphabet='ab {}:"\n\u00e9\U0001f600', min_size=1, max_size=12)
FIELDS = {"thinking": "thinking", "text": "text", "input_json": "partial_json"}
BLOCKS = {
    "thinking": {"type": "thinking", "thinking": "", "signature": ""},
    "text": {"type": "text", "text": ""},
    "input_json": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
}


def started(index: int, block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def said(index: int, kind: str, text: str) -> dict[str, Any]:
    delta = {"type": f"{kind}_delta", FIELDS[kind]: text}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def stopped(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def joined(events: list[Event], kind: str) -> str:
    wanted, field = ("tool", "arguments") if kind == "input_json" else (kind, "text")
    deltas = (e for e in events if e.layer == "semantic" and e.type == f"{wanted}.delta")
    return "".join(event.data[field] for event in deltas)


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[tuple[str, str]], list[dict[str, Any]]]:
    """(kind, text) of blocks, and a stream of them: announced or not, stopped or not."""
    blocks = draw(st.lists(st.tuples(st.sampled_from(sorted(FIELDS)), TEXT), max_size=5))
    frames: list[dict[str, Any]] = []
    if draw(st.booleans()):
        frames.append({"type": "message_start", "message": {"id": "m", "content": []}})
    for index, (kind, text) in enumerate(blocks):
        if draw(st.booleans()):
            frames.append(started(index, BLOCKS[kind]))
        cut = draw(st.integers(0, len(text)))
        for piece in (text[:cut], "", text[cut:]):
            frames.append(said(index, kind, piece))
            if draw(st.booleans()):
                frames.append({"type": "ping"})
        if draw(st.booleans()):
            frames.append(stopped(index))
    return blocks, frames


@given(stream=streams(), ends=st.booleans())
def test_texts_come_back_whole_once_and_blocks_balance(
    stream: tuple[list[tuple[str, str]], list[dict[str, Any]]],
    ends: bool,
    read_stream: ReadStream,
    assert_sound: Callable[[list[Event]], None],
) -> None:
    blocks, frames = stream

    events = read_stream(NAME, [*frames, *([{"type": "message_stop"}] if ends else [])])

    assert_sound(events)
    assert events[-1].type == ("done" if ends else "cut")
    for kind in FIELDS:
        assert joined(events, kind) == "".join(text for k, text in blocks if k == kind)


@given(blocks=st.lists(st.tuples(st.sampled_from(["thinking", "text"]), TEXT), max_size=5))
def test_body_equals_its_stream(blocks: list[tuple[str, str]], read_stream: ReadStream) -> None:
    content = [{"type": kind, kind: text} for kind, text in blocks]
    frames: list[Any] = [{"type": "message_start", "message": {"content": []}}]
    for index, (kind, text) in enumerate(blocks):
        frames += [started(index, BLOCKS[kind]), said(index, kind, text), stopped(index)]
    ending = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    body = {"type": "message", "content": content, "stop_reason": "end_turn"}

    streamed = read_stream(NAME, [*frames, ending, {"type": "message_stop"}])
    whole = read_stream(NAME, [{"body": body}])

    assert told(streamed) == told(whole)


def told(events: list[Event]) -> list[tuple[str, dict[str, Any]]]:
    return [(e.type, dict(e.data)) for e in events if e.layer == "semantic" and e.type != "done"]


KEYS = st.sampled_from(
    [
        *("type", "index", "delta", "content_block", "message", "content", "usage", "error"),
        *("text", "thinking", "signature", "data", "partial_json", "input", "id", "name"),
        *("stop_reason", "output_tokens", "output_tokens_details", "thinking_tokens", "role"),
    ]
)
TYPES = st.sampled_from(
    [
        *sorted(VOCABULARY.wire),
        *("thinking", "text", "redacted_thinking", "tool_use", "server_tool_use", "later"),
        *("thinking_delta", "text_delta", "signature_delta", "input_json_delta"),
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 10**30, 2**63, 1.5, "", "x", "end_turn", "assistant"]),
)
JSON = st.recursive(
    SCALARS | TYPES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
)
INDEX = st.sampled_from([0, 1, -1, None, "0", 1.0])
EVENTS = st.builds(
    lambda kind, index, delta, block, message, usage: {
        "type": kind,
        "index": index,
        "delta": delta,
        "content_block": block,
        "message": message,
        "usage": usage,
    },
    TYPES,
    INDEX,
    JSON | st.dictionaries(KEYS, JSON | TYPES, max_size=4),
    JSON | st.builds(lambda kind, more: {**more, "type": kind}, TYPES, st.dictionaries(KEYS, JSON)),
    JSON,
    JSON,
)
FRAMES = st.one_of(
    EVENTS,
    JSON.map(lambda value: {"data": "null"} if isinstance(value, str) else value),
    st.builds(lambda body: {"body": body}, JSON | EVENTS),
    st.sampled_from(["[DONE]", "not json", "null"]),
    st.builds(lambda data: {"event": "error", "data": data}, JSON),
)


@given(frames=st.lists(FRAMES, max_size=10), end=st.sampled_from(["eof", "reset", "open"]))
def test_no_payload_fails_the_reader(frames: list[Any], end: str, read_stream: ReadStream) -> None:
    events = read_stream(NAME, frames, None, end)

    for event in events:
        assert isinstance(event.data, dict)
        if event.layer == "semantic":
            assert set(event.data) <= SEMANTIC_EVENTS[event.type] | {"choice"}
            assert not event.type.endswith(".delta") or says_something(event)
    assert events == sorted(events, key=lambda event: event.number)


def says_something(event: Event) -> bool:
    return bool(event.data.get("text") or event.data.get("arguments"))


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param([started(n, BLOCKS["thinking"]) for n in range(10_000)], id="starts"),
        pytest.param([said(n, "thinking", "a") for n in range(10_000)], id="deltas"),
    ],
)
def test_cap_ends_in_one_overflow(frames: list[Any], read_stream: ReadStream) -> None:
    events = read_stream(NAME, [*frames, {"type": "message_stop"}])

    overflows = [event for event in events if event.type == f"{NAME}.overflow"]
    assert len(overflows) == 1
    last = max(event.number for event in events if event.layer == "semantic")
    assert last <= overflows[0].number
    assert sum(event.layer == "wire" for event in events) > 10_000


@pytest.mark.slow
@pytest.mark.parametrize("repeated", ["message_stop", "message_start", "content_block_stop"])
def test_many_ends_take_linear_time(repeated: str, read_stream: ReadStream) -> None:
    def read(size: int) -> None:
        opening = [started(n, BLOCKS["thinking"]) for n in range(size // 3)]
        read_stream(NAME, [*opening, *[{"type": repeated, "index": 0}] * size])

    assert grows_linearly(read, 12_000)
