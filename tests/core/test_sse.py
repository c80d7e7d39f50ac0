"""The SSE parser against vectors, against a naive parser, and under every way of cutting."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Callable, Iterable
from itertools import repeat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.core.errors import HarnessError
from conformance.core.events import Frame
from conformance.core.sse import Parser
from tests.core.naive_sse import (
    BOM,
    UNBOUNDED,
    VECTORS,
    Outcome,
    chunkings,
    cut,
    every,
    naive,
    parse,
)
from tests.each import each


def vectors() -> list[dict[str, Any]]:
    return [
        {**vector, "id": f"{path.stem}-{vector['id']}"}
        for path in sorted(VECTORS.glob("*.json"))
        for vector in json.loads(path.read_text("utf-8"))["vectors"]
    ]


def wire_of(vector: dict[str, Any]) -> bytes:
    if "hex" in vector:
        return bytes.fromhex(vector["hex"])
    wire: str = vector["wire"]
    return wire.encode()


def outcome_of(vector: dict[str, Any]) -> Outcome:
    frames = [msgspec.convert(frame, Frame) for frame in vector["frames"]]
    return Outcome(frames, vector["retry"], vector["last_event_id"])


@each(vectors())
def test_vector_holds_under_every_chunking(vector: dict[str, Any]) -> None:
    wire, limit = wire_of(vector), vector.get("max_event_bytes", UNBOUNDED)
    expected = outcome_of(vector)
    for chunks in chunkings(wire):
        assert parse(chunks, limit) == expected, chunks


@each(vectors())
def test_naive_parser_agrees_with_vector(vector: dict[str, Any]) -> None:
    limit = vector.get("max_event_bytes", UNBOUNDED)
    assert naive(wire_of(vector), limit) == outcome_of(vector)


def test_vector_ids_are_unique() -> None:
    ids = [vector["id"] for vector in vectors()]
    assert len(ids) == len(set(ids)) > 100


# Differences from the naive parser

PIECES = st.sampled_from(
    [
        *(b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n", b"\n", b"\r\n", b"\n\n"),
        *(b"data: x", b"data:y", b"data", b"data:", b"data: ", b"data:  z", b'data: {"a": "b: c"}'),
        *(b"data: x\n\n", b"event: a\ndata: b\n\n", b"event: a\r\ndata: b\r\n\r\n"),
        *(b"event: e", b"event:", b"event", b"event: \xff", b"Event: e", b"event: e\n"),
        *(b"id: 1", b"id", b"id: \0", b"id: \0\xff", b"id: \xe2\x80\xa6", b"id: 2\n\n"),
        *(b"retry: 10", b"retry: -1", b"retry", b"retry: " + b"9" * 19, b"retry: " + b"0" * 19),
        *(b"retry: \xef\xbc\x91", b"retry: 10 ", b":", b": c", b":\xff", b"foo: bar", b"foo"),
        *(BOM, b"\xef", b"\xbb", b"\xbf", b"\xe2\x80\xa8", b"\xc2\x85", b"\xf0\x9f", b"\xc0\xaf"),
        *(b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b" ", b":", b"\0", b"\x0b", b"d", b"ata: "),
    ]
)
STARTS = st.sampled_from([b"", b"", BOM, BOM[:2], BOM[:1]])
TAILS = st.lists(st.one_of(PIECES, PIECES, PIECES, st.binary(max_size=3)), max_size=24)
WIRES = st.builds(lambda start, tail: start + b"".join(tail), STARTS, TAILS)
LIMITS = st.one_of(st.just(UNBOUNDED), st.integers(0, 3), st.integers(0, 30))


@settings(max_examples=700, deadline=None)
@given(wire=WIRES, limit=LIMITS, places=st.lists(st.integers(0, 120), max_size=6))
def test_parser_equals_naive_parser(wire: bytes, limit: int, places: list[int]) -> None:
    expected = naive(wire, limit)
    assert parse([wire], limit) == expected
    assert parse(every(1, wire), limit) == expected
    assert parse(cut(wire, [place % (len(wire) + 1) for place in places]), limit) == expected


@settings(max_examples=150, deadline=None)
@given(wire=WIRES, limit=LIMITS)
def test_every_two_way_split_yields_the_same_frames(wire: bytes, limit: int) -> None:
    expected = naive(wire, limit)
    for place in range(len(wire) + 1):
        assert parse([wire[:place], wire[place:]], limit) == expected, place


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("other", ["\n", "\r\n", "\r"])
def test_known_names_are_read_the_same_wherever_the_stream_is_cut(eol: str, other: str) -> None:
    lines = [*("event: a", "data: x", ""), *("event: a", "data: y", "data: z", ""), "event: a"]
    wire = (eol.join([*lines, ""]) + other.join(["data: w", "", "event: a", "id: 1"])).encode()
    expected = naive(wire)
    for first in range(len(wire) + 1):
        for second in range(first, len(wire) + 1):
            assert parse(cut(wire, [first, second])) == expected


BLOCKS = st.lists(
    st.sampled_from(
        [
            *(["data: x"], ["data: {}"], ["event: a", "data: x"], ["event: b\u2028", "data: x"]),
            *(["event:a", "data:x"], ["event: ", "data: x"], ["event: a"], ["data: x", "data: y"]),
            *([":c"], ["id: 1", "data: x"], ["data: x", "event: a"], ["", "data: \x00"]),
        ]
    ),
    max_size=12,
)


@settings(max_examples=300, deadline=None)
@given(
    blocks=BLOCKS,
    eol=st.sampled_from(["\n", "\r\n", "\r"]),
    limit=LIMITS,
    places=st.lists(st.integers(0, 300), max_size=6),
)
def test_streams_whose_lines_end_the_same_are_read_as_by_the_naive_parser(
    blocks: list[list[str]], eol: str, limit: int, places: list[int]
) -> None:
    wire = "".join(eol.join([*block, "", ""]) for block in blocks).encode()
    expected = naive(wire, limit)
    assert parse([wire], limit) == expected
    assert parse(cut(wire, [place % (len(wire) + 1) for place in places]), limit) == expected


@pytest.mark.parametrize("eol", [b"\n", b"\r\n", b"\r"])
def test_large_chunk_yields_the_same_frames_as_small_ones(eol: bytes) -> None:
    block = eol.join(
        [b"event: a", b"data: \xe8\xb1\x86", b"", b": c", b"data: b", b"data: c", b"", b""]
    )
    wire = block * (700_000 // len(block))
    assert parse([wire]) == parse(every(1000, wire))


def test_more_names_than_are_kept_at_hand_are_read_the_same() -> None:
    names = [f"name-{i % 400}" if i % 3 else f"{i:0200}" for i in range(1000)]
    wire = "".join(f"event: {name}\ndata: {{}}\n\n" for name in names).encode()
    assert [frame.event for frame in parse([wire]).frames] == names


# Promptness


@pytest.mark.parametrize("wire", [b"data: x\n\n", b"data: x\r\r", b"data: x\r\n\r", b"data: x\n\r"])
def test_event_comes_with_the_byte_that_ends_it(wire: bytes) -> None:
    parser = Parser()
    assert parser.feed(wire[:-1]) == []
    assert parser.feed(wire[-1:]) == [Frame("event", "message", "x", "", 0)]


@pytest.mark.parametrize(
    ("line", "kind"), [(b":c\n", "comment"), (b"foo\r", "unknown-field"), (b"id: \0\n", "bad-id")]
)
def test_observation_inside_a_block_comes_as_its_line_ends(line: bytes, kind: str) -> None:
    parser = Parser()
    parser.feed(b"data: x\n")
    [frame] = parser.feed(line)
    assert kind in {frame.kind, frame.event}
    assert frame.offset == 8


def test_line_too_long_is_reported_before_it_ends() -> None:
    parser = Parser(max_event_bytes=8)
    assert parser.feed(b"data: 12") == []
    assert parser.feed(b"3") == [Frame("ignored", "too-long", "", "", 0)]
    assert parser.feed(b"45\n: not blank\n") == []
    assert parser.feed(b"\ndata: 1\n\n") == [Frame("event", "message", "1", "", 25)]


# Life cycle


def test_close_yields_the_unfinished_block_once() -> None:
    parser = Parser()
    parser.feed(b"data: x\n")
    assert parser.close() == [Frame("ignored", "unfinished", "data: x", "", 0)]
    assert parser.close() == []


def test_feed_after_close_is_refused() -> None:
    parser = Parser()
    parser.close()
    with pytest.raises(HarnessError, match="fed after close"):
        parser.feed(b"data: x\n\n")


def test_id_is_committed_by_the_blank_line() -> None:
    parser = Parser()
    parser.feed(b"id: 7\ndata: x\n")
    assert parser.last_event_id == ""
    parser.feed(b"\n")
    assert parser.last_event_id == "7"


# Work and memory, counted in allocated bytes: a buffer that is copied or split again and again
# shows there, whatever the machine's speed.

SHAPES: dict[str, Callable[[int], bytes]] = {
    "one line": lambda size: b"data: " + b"x" * size + b"\n\n",
    "one named CRLF line": lambda size: b"event: a\r\ndata: " + b"x" * size + b"\r\n\r\n",
    "many data lines": lambda size: b"data: line\n" * (size // 11) + b"\n",
    "many CR lines": lambda size: b"data: line\r" * (size // 11) + b"\r",
    "many id lines": lambda size: b"id: line\n" * (size // 9) + b"\n",
    "never ends": lambda size: b"data: " + b"x" * size,
    "one comment": lambda size: b":" + b"x" * size + b"\n",
}


def allocated(chunks: list[bytes]) -> int:
    """Bytes newly in use at the height of each call, summed over the calls."""
    parser, total = Parser(), 0
    tracemalloc.start()
    try:
        for chunk in chunks:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            parser.feed(chunk)
            total += tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    return total


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_size_and_not_with_its_square(shape: str) -> None:
    small, large = (allocated(every(256, SHAPES[shape](size))) for size in (200_000, 800_000))
    assert large < 6 * small  # linear: 4; quadratic: 16


def peak(parser: Parser, chunks: Iterable[bytes]) -> int:
    """Bytes in use at the height of feeding all chunks; the frames are dropped."""
    tracemalloc.start()
    try:
        for chunk in chunks:
            parser.feed(chunk)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "hostile", [b"x" * 512, b"data: x\n" * 64, b"a\n" * 256, b"event: e\r" * 64, b"id: 1\r\n" * 64]
)
def test_endless_block_takes_bounded_memory(hostile: bytes) -> None:
    limit = 64 * 1024
    assert peak(Parser(max_event_bytes=limit), repeat(hostile, 1500)) < 6 * limit


@pytest.mark.parametrize("digits", [12, 2000])
def test_invented_event_names_take_bounded_memory(digits: int) -> None:
    chunks = (f"event: {n:0{digits}}\ndata: x\n\n".encode() for n in range(5000))
    assert peak(Parser(), chunks) < 128 * 1024


def test_one_huge_chunk_is_not_split_all_at_once() -> None:
    parser = Parser()
    parser.feed(b"\n")
    assert peak(parser, [b"\n" * (1 << 19)]) < 1 << 20


# Recordings


@pytest.mark.captures
def test_recordings_are_read_the_same_by_both_parsers() -> None:
    folder = os.environ.get("CONFORMANCE_CAPTURES")
    if not folder:
        pytest.skip("CONFORMANCE_CAPTURES is not set")
    recordings = sorted(Path(folder).rglob("*.sse"))
    assert recordings
    for path in recordings:
        wire = path.read_bytes()
        expected = naive(wire)
        for size in (len(wire) or 1, 1024, 7):
            assert parse(every(size, wire)) == expected, path
