"""The Messages dialect as data: frames in, wire and semantic events out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
def test_stream_gives_these_events(vector: dict[str, Any], read_stream: ReadStream) -> None:
    events = read_stream(NAME, vector["frames"], end=vector.get("end", "eof"))

    wire = [f"{event.number} {event.type}" for event in events if event.layer == "wire"]
    found = [[e.number, e.type, dict(e.data)] for e in events if e.layer == "semantic"]
    assert wire == vector["wire"]
    assert found == [[n, kind, {"choice": 0, **data}] for n, kind, data in vector["semantic"]]


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
