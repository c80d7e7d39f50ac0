"""Bytes become one ordered trace, with frames numbered from 1."""

from __future__ import annotations

import itertools

import pytest

from conformance import dialects
from conformance.core.clock import chunk_times
from conformance.core.events import Chunk, Event, Exchange, Request, Response
from conformance.core.framing import Framer, exchange_frames
from conformance.core.json_values import MOST_DEPTH, NOT_JSON, decode_json
from conformance.core.trace import FrameTrace
from conformance.dialects import Reading
from conformance.recordings.api import check_chunks

STREAM = (
    b": ping\n"
    b'data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}\n\n'
    b"colour: red\n"
    b"data: [DONE]\n\n"
)


def traced(data: bytes, *, body: bool = False) -> list[Event]:
    trace = FrameTrace(dialects.get("openai.chat").reader(Reading()))
    framer = Framer(framing="body" if body else "sse")
    found = [*framer.feed(data), *framer.close()]
    return [*(event for frame in found for event in trace.frame(frame)), *trace.end("eof")]


def test_a_frame_numbers_everything_it_gives_rise_to() -> None:
    shown = [(event.number, event.layer, event.type) for event in traced(STREAM)]
    assert shown == [
        (1, "transport", "sse.comment"),
        (2, "transport", "sse.frame"),
        (2, "wire", "chat.chunk"),
        (2, "wire", "chat.choice"),
        (2, "semantic", "message.start"),
        (2, "semantic", "text.start"),
        (2, "semantic", "text.delta"),
        (3, "transport", "sse.ignored"),
        (4, "transport", "sse.frame"),
        (4, "wire", "[DONE]"),
        (4, "semantic", "text.end"),
        (4, "semantic", "done"),
        (5, "transport", "http.end"),
    ]


def test_a_frame_carries_its_payload_only_where_it_is_json() -> None:
    frames = [event.data for event in traced(STREAM) if event.type == "sse.frame"]
    assert ["json" in data for data in frames] == [True, False]


def test_the_head_has_number_zero_and_lower_case_names() -> None:
    trace = FrameTrace(dialects.get("openai.chat").reader(Reading()))
    request = Request("POST", "/v1/chat/completions", (("X-A", "1"),), {"messages": []})
    events = trace.head(request, Response(200, "1.1", (("Content-Type", "text/plain"),)))
    assert [event.number for event in events] == [0] * len(events)
    assert events[0].data["headers"] == {"x-a": "1"}
    assert events[-1].data["headers"] == {"content-type": "text/plain"}


def test_a_body_is_one_frame() -> None:
    events = traced(b'{"choices":[{"index":0,"message":{"content":"Hi"}}]}', body=True)
    assert {event.number for event in events} == {1, 2}
    assert "chat.completion" in [event.type for event in events]


@pytest.mark.parametrize(
    "text", ["", "[DONE]", "{", "NaN", "[" * 100_000, '"\ud800"', "1 2", "[" * 300 + "]" * 300]
)
def test_what_is_no_json_is_reported_to_be_none(text: str) -> None:
    assert decode_json(text) is NOT_JSON


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_what_nests_deeper_than_the_most_is_no_json(opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    deepest = opening * (MOST_DEPTH - 1) + "[]" + closing * (MOST_DEPTH - 1)
    assert decode_json(deepest) is not NOT_JSON
    assert decode_json(f"[{deepest}]") is NOT_JSON


def test_many_brackets_are_fine_where_they_are_not_deep() -> None:
    text = "[" + ",".join(['{"a":"[[[["}'] * 1000) + "]"
    assert len(decode_json(text)) == 1000


def test_the_clock_stops_where_a_chunk_has_none() -> None:
    chunks = [Chunk(b"a", 1.5), Chunk(b"b", 2.0), Chunk(b"c"), Chunk(b"d", 1.0)]
    assert [ms for _, ms in chunk_times(chunks)] == [1.5, 3.5, None, None]


@pytest.mark.parametrize("cuts", [(0,), (1, 3), (2, 6), (4, 5)])
def test_a_body_is_one_however_it_is_cut(cuts: tuple[int, ...]) -> None:
    data = b"\xef\xbb\xbf\n {}"
    edges = [0, *(cut for cut in cuts if cut), len(data)]
    chunks = tuple(Chunk(data[a:b], 1.0) for a, b in itertools.pairwise(edges))
    found = list(exchange_frames(Exchange(chunks=chunks)))
    assert [frame.kind for frame, _ in found] == ["body"]
    assert [ms for _, ms in found] == [float(len(chunks))]


def test_a_body_without_a_head_is_judged_the_same_under_any_cutting() -> None:
    data = b'\xef\xbb\xbf {"id":"c","object":"chat.completion","choices":[]}'

    def verdicts(*chunks: bytes) -> object:
        # What is kept is judged chunk by chunk; otherwise chunks are joined first.
        return check_chunks(chunks, dialect="openai.chat", keep=True).verdicts

    whole = verdicts(data)
    for at in range(1, len(data)):
        assert verdicts(data[:at], data[at:]) == whole, at
