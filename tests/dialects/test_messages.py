"""The Messages dialect as data: frames in, wire and semantic events out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import dialects
from conformance.core.events import Event, Frame, Request
from conformance.dialects import Reading
from tests.dialects.streams import SEMANTIC_ORDER

ReadStream = Callable[..., list[Event]]
NAME = "anthropic.messages"
FILE = Path(__file__).parent.parent / "vectors" / "dialects" / "messages.json"
VECTORS = json.loads(FILE.read_text(encoding="utf-8"))
MESSAGE = Frame("event", "message", "", "", 0)
each_vector = pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["name"]))


@each_vector
def test_events_of_one_block_keep_order(vector: dict[str, Any], read_stream: ReadStream) -> None:
    events = read_stream(NAME, vector["frames"], end=vector.get("end", "eof"))

    ends = {"thinking.end", "text.end", "tool.end"}  # what was open before ends first
    for number in {event.number for event in events}:
        here = [e for e in events if e.number == number and e.layer == "semantic"]
        ranks = [SEMANTIC_ORDER[event.type] for event in here if event.type not in ends]
        assert ranks == sorted(ranks)


def test_payloads_are_wire_events_as_they_stand() -> None:
    reader = dialects.get(NAME).reader(Reading())
    payload = {"type": "content_block_start", "index": 0, "content_block": {"type": "later"}}

    events = reader.read(MESSAGE, payload, 3)

    assert events[0] == Event("content_block_start", payload, 3, "wire")
    assert [event.type for event in events[1:]] == ["message.start"]


def test_a_block_of_a_body_is_shaped_like_a_start() -> None:
    reader = dialects.get(NAME).reader(Reading())
    content = [{"type": "text", "text": "x"}, "odd"]
    body = {"type": "message", "content": content, "stop_reason": "end_turn"}

    events = reader.read(Frame("body", "", "", "", 0), body, 1)

    assert [(e.type, e.data) for e in events if e.layer == "wire"] == [
        ("message", body),
        ("message.block", {"index": 0, "content_block": content[0]}),
        ("message.block", {"index": 1, "content_block": "odd"}),
    ]


def test_a_request_is_unrolled_entry_by_entry() -> None:
    turn = {"role": "assistant", "content": [{"type": "thinking", "thinking": "a"}]}
    body = {"model": "m", "system": "s", "messages": [{"role": "user", "content": "hi"}, turn]}

    events = dialects.get(NAME).reader(Reading()).request(Request(json=body))

    assert [event.type for event in events] == ["request", "request.item", "request.item"]
    assert events[0].data == body
    assert events[2].data == {**turn, "position": 1, "kind": "message", "last": True}


def test_nothing_of_the_request_is_echoed() -> None:
    reader = dialects.get(NAME).reader(Reading())
    reader.read(MESSAGE, {"type": "message_start", "message": {"model": "m"}}, 1)

    assert reader.echo(1) is None


@pytest.mark.parametrize(
    ("payload", "is_ours"),
    [
        ({"type": "content_block_delta"}, True),
        ({"type": "message_start"}, True),
        ({"type": "ping"}, False),
        ({"type": "message", "content": [], "stop_reason": None}, True),
        ({"type": "message", "content": "x"}, False),
        ({"type": "message", "content": []}, False),
        ({"type": "error", "error": {}}, False),
        ([], False),
    ],
)
def test_what_is_recognised(payload: Any, is_ours: bool) -> None:
    assert dialects.get(NAME).recognises(MESSAGE, payload) is is_ours


TEXT = st.text(alphabet='ab {}:"\n\u00e9\U0001f600', min_size=1, max_size=12)
FIELDS = {"thinking": "thinking", "text": "text", "input_json": "partial_json"}
BLOCKS = {
    "thinking": {"type": "thinking", "thinking": "", "signature": ""},
    "text": {"type": "text", "text": ""},
    "input_json": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
}


def started(index: int, block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def block_delta(index: int, kind: str, text: str) -> dict[str, Any]:
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
            frames.append(block_delta(index, kind, piece))
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
        frames += [started(index, BLOCKS[kind]), block_delta(index, kind, text), stopped(index)]
    ending = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    body = {"type": "message", "content": content, "stop_reason": "end_turn"}

    streamed = read_stream(NAME, [*frames, ending, {"type": "message_stop"}])
    whole = read_stream(NAME, [{"body": body}])

    assert semantic_fields(streamed) == semantic_fields(whole)


def semantic_fields(events: list[Event]) -> list[tuple[str, dict[str, Any]]]:
    return [(e.type, dict(e.data)) for e in events if e.layer == "semantic" and e.type != "done"]
