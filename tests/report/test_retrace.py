from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.report.retrace import ShownExchange, trace_exchange
from tests.report.made import finding, stream

CHAT = {"dialect": "openai.chat", "profile": "strict"}


def chunk(ms: float | None = 2.0, **delta: Any) -> Chunk:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    payload = {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}
    return Chunk(f"data: {json.dumps(payload)}\n\n".encode(), ms)


def exchange(*chunks: Chunk) -> Exchange:
    return Exchange(
        request=Request(path="/v1", json={"n": 1}), response=Response(200), chunks=chunks
    )


def lanes(traced: ShownExchange) -> dict[str, list[tuple[int, int]]]:
    return {lane: [(b.first, b.last) for b in bars] for lane, bars in traced.blocks.items() if bars}


def test_a_short_stream_is_kept_whole() -> None:
    chunks = [chunk(reasoning_content="a"), chunk(reasoning_content="b"), chunk(content="c")]
    traced = trace_exchange(stream(**CHAT), exchange(*chunks), 10)
    assert [moment.number for moment in traced.moments] == [0, 1, 2, 3, 4]
    assert [moment.ms for moment in traced.moments] == [0.0, 2.0, 4.0, 6.0, 6.0]
    assert [moment.lanes for moment in traced.moments[1:4]] == [
        ("stream", "thinking"),
        ("thinking",),
        ("thinking", "text"),
    ]
    assert traced.moments[0].text.startswith('POST /v1\n{"n":1}')
    assert lanes(traced)["thinking"] == [(1, 3)]
    assert lanes(traced)["text"] == [(3, 4)]
    assert traced.is_clocked
    assert traced.last_ms == 6.0


def test_tools_have_a_lane() -> None:
    call = {"index": 0, "id": "x", "function": {"name": "f", "arguments": "{}"}}
    traced = trace_exchange(stream(**CHAT), exchange(chunk(tool_calls=[call])), 10)
    assert list(lanes(traced)) == ["tools", "stream"]


def test_without_a_clock_there_are_no_times() -> None:
    traced = trace_exchange(stream(**CHAT), exchange(chunk(None, content="a")), 10)
    assert not traced.is_clocked
    assert traced.moments[1].ms is None


def test_of_a_long_stream_findings_and_turns_are_kept() -> None:
    chunks = [chunk(content="a")] * 500 + [chunk(reasoning_content="b")] * 500
    judged = stream(finding(event=700), finding(event=1001), **CHAT)
    traced = trace_exchange(judged, exchange(*chunks), 50)
    numbers = [moment.number for moment in traced.moments]
    assert traced.total == 1001
    assert len(numbers) <= 100
    assert {0, 1, 2, 3, 501, 697, 698, 699, 700, 701, 1001} <= set(numbers)
    assert numbers == sorted(set(numbers))


def test_blocks_are_bounded_and_cover_the_stream() -> None:
    pair = [chunk(content="a"), chunk(reasoning_content="b")]
    traced = trace_exchange(stream(**CHAT), exchange(*(pair * 3000)), 20)
    for lane in ("text", "thinking"):
        bars = traced.blocks[lane]
        assert len(bars) <= 512
        assert bars[0].first <= 2
        assert bars[-1].last >= 5999
        assert all(a.last <= b.last for a, b in pairwise(bars))
    assert len(traced.moments) <= 41


def test_many_findings_do_not_keep_everything() -> None:
    judged = stream(*(finding(event=n) for n in range(0, 4000, 2)), **CHAT)
    traced = trace_exchange(judged, exchange(*[chunk(content="a")] * 4000), 50)
    assert len(traced.moments) <= 101


def test_a_profile_that_is_not_at_hand_is_reported() -> None:
    traced = trace_exchange(stream(dialect="openai.chat", profile="own"), exchange(), 10)
    assert traced.note == "profile own was not found: the lanes follow profile strict"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"data: [1]\n\n", b"data: {\n"])
def test_no_body_stops_it(body: bytes) -> None:
    traced = trace_exchange(stream(**CHAT), exchange(Chunk(body, 1.0)), 10)
    assert traced.moments[-1].number == traced.total
