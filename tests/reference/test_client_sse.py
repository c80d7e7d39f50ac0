"""The client's own reader of server-sent events, against the vectors and under any cutting."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.client.frame import Frame, SseReader, TooLong
from tests.each import each

FOLDER = Path(__file__).parent.parent / "vectors" / "sse"
VECTORS: list[dict[str, Any]] = [
    vector
    for path in sorted(FOLDER.glob("*.json"))
    for vector in json.loads(path.read_text(encoding="utf-8"))["vectors"]
    # What is too long for one reader need not be for the other.
    if "max_event_bytes" not in vector
]


def wire(vector: dict[str, Any]) -> bytes:
    if "hex" in vector:
        return bytes.fromhex(vector["hex"])
    return str(vector["wire"]).encode()


def expected(vector: dict[str, Any]) -> list[Frame]:
    frames = [frame for frame in vector["frames"] if frame["kind"] == "event"]
    return [Frame(frame.get("event", "message"), frame["data"]) for frame in frames]


def read(chunks: Iterable[bytes]) -> list[Frame]:
    reader = SseReader()
    return [event for chunk in chunks for event in reader.feed(chunk)]


@each(VECTORS, (1, 3, 1 << 20))
def test_events_are_those_of_the_standard(vector: dict[str, Any], size: int) -> None:
    data = wire(vector)
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert read(chunks) == expected(vector)


LINES = st.sampled_from(
    [b"data: x", b"data:\xf0\x9f\xa7\xa0", b"event: e", b":c", b"", b"", b"data", b"\xff", b"id: 1"]
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r", b"\r\n"])))


@given(STREAMS, st.lists(st.integers(0, 200)))
def test_cutting_changes_nothing(lines: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    data = b"".join(line + end for line, end in lines)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[a:b] for a, b in pairwise(places)]
    # Empty chunks say nothing, also between CR and LF.
    assert read([b"", *(part for piece in pieces for part in (piece, b""))]) == read([data])


@pytest.mark.parametrize("chunk", [b"data: x\n", b"x", b": \nevent: y\n"])
def test_an_event_without_end_is_given_up(chunk: bytes) -> None:
    reader = SseReader(most=100)
    with pytest.raises(TooLong, match="longer than 100 bytes"):
        list(chain.from_iterable(map(reader.feed, [chunk] * 200)))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_what_comes_before_a_long_event_is_not_lost(size: int) -> None:
    data = b"data: one\n\ndata: " + b"x" * 100 + b"\n\n"
    reader = SseReader(most=50)
    found: list[Frame] = []
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    with pytest.raises(TooLong):
        found.extend(event for chunk in chunks for event in reader.feed(chunk))
    assert found == [Frame("message", "one")]
