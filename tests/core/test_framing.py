"""How bytes fall into frames: decided alike however they are cut, and as soon as can be."""

from __future__ import annotations

import json
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.elements import ElementParser
from conformance.core.events import Chunk, Exchange, Frame, Response
from conformance.core.framing import Framer, FramingDecision, exchange_frames, framing_of
from conformance.core.lines import LineParser
from conformance.core.sse import Parser

FILE = Path(__file__).parent.parent / "vectors" / "framing" / "decisions.json"
VECTORS = json.loads(FILE.read_text())["vectors"]
WIRE = st.lists(
    st.sampled_from(
        [
            *(b"{}", b'{"a":1}', b"\n", b"\r\n", b" ", b"{\n", b"}", b"[", b"]"),
            *(b"data: x\n\n", b"\xef\xbb\xbf", b"\x1e", b"x"),
        ]
    )
).map(b"".join)
PARSERS: dict[str, type[Parser | LineParser | ElementParser]] = {
    "sse": Parser,
    "lines": LineParser,
    "array": ElementParser,
}
TYPES = st.sampled_from(["", "application/json", "application/x-ndjson", "text/event-stream", "x"])


def head(content_type: str, status: int = 200) -> Response | None:
    return Response(status, "1.1", (("Content-Type", content_type),)) if content_type else None


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_vectors_hold_however_they_are_cut(vector: dict[str, Any]) -> None:
    wire, response = (
        vector["wire"].encode(),
        head(vector.get("type", ""), vector.get("status", 200)),
    )
    at = vector.get("at", len(wire) + 1)
    for size in (1, 2, 3, len(wire) or 1):
        decision = FramingDecision(response, vector.get("expected"))
        known = 0 if decision.framing else None
        for start in range(0, len(wire), size):
            if decision.feed(wire[start : start + size]) and known is None:
                known = start + size
        assert known is None if at > len(wire) else known is not None and at <= known < at + size
        assert decision.close() == vector["framing"]


def framed(response: Response | None, *chunks: bytes) -> list[Frame]:
    framer = Framer(response)
    found = [frame for chunk in chunks for frame in framer.feed(chunk)]
    return [*found, *framer.close()]


@given(WIRE, TYPES, st.data())
def test_frames_under_any_cutting(wire: bytes, content_type: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(wire))).map(sorted))
    chunks = [wire[a:b] for a, b in pairwise([0, *cuts, len(wire)])]
    response = head(content_type)
    assert framed(response, *chunks) == framed(response, wire)


@given(WIRE, TYPES)
def test_frames_are_those_of_the_parser_that_was_decided(wire: bytes, content_type: str) -> None:
    response = head(content_type)
    framing = framing_of(Exchange(response=response, chunks=(Chunk(wire),)))
    found = framed(response, wire)
    if not wire.strip() and content_type != "text/event-stream":
        assert found == []
    elif framing == "body":
        assert [frame.kind for frame in found] in (["body"], [])
    else:
        parser = PARSERS[framing]()
        assert found == [*parser.feed(wire), *parser.close()]


def test_a_frame_came_when_its_last_byte_came() -> None:
    chunks = (Chunk(b'{"a":1}\n', 1.0), Chunk(b"\n", 1.0), Chunk(b'{"b":2}\n', 1.0))
    exchange = Exchange(chunks=chunks)
    assert [(frame.offset, ms) for frame, ms in exchange_frames(exchange)] == [(0, 1.0), (9, 3.0)]


def test_a_line_of_a_live_stream_does_not_wait_for_the_next() -> None:
    framer = Framer(head("application/x-ndjson"))
    assert [frame.data for frame in framer.feed(b'{"a":1}\n')] == ['{"a":1}']
    asked = Framer(None, expected="lines")
    assert [frame.data for frame in asked.feed(b'{"a":1}\n')] == ['{"a":1}']


def test_a_body_begins_after_its_bom() -> None:
    (frame,) = framed(head("application/json"), b"\xef\xbb\xbf{}")
    assert frame == Frame("body", "message", "{}", "", 3)


def test_what_is_undecided_is_held_once() -> None:
    size = 8 << 20
    piece = b"x" * 4096
    tracemalloc.start()
    framer = Framer(None)
    framer.feed(b'{"a":"')
    for _ in range(size // len(piece)):
        framer.feed(bytes(piece))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert framer.framing is None
    assert most < 1.5 * size


def test_the_first_frames_of_a_long_chunk_come_without_the_rest() -> None:
    exchange = Exchange(chunks=(Chunk(b"data: x\n\n" * 10_000, 1.0),))
    with mock.patch.object(Parser, "feed", autospec=True, side_effect=Parser.feed) as feed:
        frames = exchange_frames(exchange)
        first = next(frames)
        taken = [len(call.args[1]) for call in feed.call_args_list]
        offsets = [frame.offset for frame, _ in frames]
    assert first == (Frame("event", "message", "x", "", 0), 1.0)
    assert sum(taken) <= 10_000
    assert offsets == list(range(9, 90_000, 9))
