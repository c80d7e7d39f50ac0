from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.events import Chunk
from conformance.core.lines import LineParser
from conformance.core.sse import Parser
from conformance.targets.replay.cutting import (
    chunks_until,
    cut_chunks,
    frame_ends,
    with_comments,
    with_crlf,
)
from conformance.targets.replay.options import Chunking

_LINES = (
    b"data: x",
    b"data",
    b"data:",
    b"event: y",
    b": note",
    b"id: 1",
    b"datax: 1",
    b"data: a\n\n",
)
_BYTES = (b"\n", b"\r", b"\r\n", b"\n\n", "data: é€🔑".encode(), b"\xff", b"\x00", b"\xef\xbb\xbf")
PIECES = st.sampled_from((*_LINES, *_BYTES))
BODIES = st.lists(PIECES, max_size=40).map(b"".join)
CHUNKS = st.lists(st.lists(PIECES, max_size=6).map(b"".join), max_size=12)
CHUNKINGS = st.one_of(
    st.sampled_from([Chunking(), Chunking("events")]),
    st.integers(1, 9).map(lambda n: Chunking("bytes", n)),
    st.integers(0, 99).map(lambda n: Chunking("seed", n)),
)
STREAM = "event: a\r\ndata: für 🔑\r\n\r\ndata: b\n\ndata: c\n\n".encode() * 3


def chunked(parts: list[bytes], ms: float | None = 1.0) -> list[Chunk]:
    return [Chunk(part, ms) for part in parts]


def events(body: bytes) -> list[tuple[str, str, str]]:
    parser = Parser()
    frames = [*parser.feed(body), *parser.close()]
    return [(f.event, f.data, f.id) for f in frames if f.kind == "event"]


@given(BODIES)
def test_event_ends_are_where_the_parser_dispatches(body: bytes) -> None:
    counts = [len(events(body[:end])) for end in frame_ends(body, "sse")]
    assert counts == list(range(1, len(events(body)) + 1))
    # One byte less dispatches one less: with CR LF the LF is the byte that counts for none.
    shorter = [
        len(events(body[: end - (2 if body[:end].endswith(b"\r\n") else 1)]))
        for end in frame_ends(body, "sse")
    ]
    assert shorter == [count - 1 for count in counts]


@given(BODIES)
def test_lines_end_at_their_line_feed(body: bytes) -> None:
    ends = frame_ends(body, "lines")
    frames = LineParser().feed(body)
    assert len(ends) == sum(frame.kind == "line" for frame in frames)
    assert all(body[end - 1 : end] == b"\n" for end in ends)


@given(CHUNKS, CHUNKINGS)
def test_cutting_keeps_bytes_and_time(parts: list[bytes], chunking: Chunking) -> None:
    body = b"".join(parts)
    pieces = list(cut_chunks(chunked(parts), chunking, ends=frame_ends(body, "sse"), salt="1"))
    assert b"".join(data for _, data in pieces) == body
    assert all(ms >= 0 for ms, _ in pieces)
    last = max((i for i, part in enumerate(parts) if part), default=-1)
    delay = sum(ms for ms, _ in pieces)
    assert delay == (len(parts) if chunking.kind == "recorded" else last + 1)


@given(CHUNKS, CHUNKINGS, st.integers(0, 60))
def test_stop_cuts_the_piece_around_it(parts: list[bytes], chunking: Chunking, stop: int) -> None:
    pieces = list(chunks_until(cut_chunks(chunked(parts), chunking), stop))
    assert b"".join(data for _, data in pieces) == b"".join(parts)[:stop]


def test_recorded_chunks_stay_as_they_are() -> None:
    parts = [b"a", b"", b"bc"]
    assert list(cut_chunks(chunked(parts, 2.5), Chunking())) == [
        (2.5, b"a"),
        (2.5, b""),
        (2.5, b"bc"),
    ]


def test_chunks_of_events_end_at_events() -> None:
    body = b"data: a\n\n: note\n\ndata: b\n\ndata: c"
    pieces = [
        data
        for _, data in cut_chunks([Chunk(body)], Chunking("events"), ends=frame_ends(body, "sse"))
    ]
    assert pieces == [b"data: a\n\n", b": note\n\ndata: b\n\n", b"data: c"]


def test_chunks_of_n_bytes_have_n_bytes() -> None:
    assert [data for _, data in cut_chunks([Chunk(b"abcdefg")], Chunking("bytes", 3))] == [
        b"abc",
        b"def",
        b"g",
    ]


def test_a_piece_comes_when_its_last_byte_came() -> None:
    chunks = [Chunk(b"ab", 10.0), Chunk(b"cd", 5.0), Chunk(b"e", 1.0)]
    assert list(cut_chunks(chunks, Chunking("bytes", 3))) == [(15.0, b"abc"), (1.0, b"de")]


def test_a_seed_cuts_always_the_same_and_another_one_otherwise() -> None:
    def sizes(seed: int, salt: str) -> list[int]:
        return [len(d) for _, d in cut_chunks([Chunk(STREAM)], Chunking("seed", seed), salt=salt)]

    assert sizes(1, "1") == sizes(1, "1")
    assert sizes(1, "1") != sizes(2, "1")
    assert sizes(1, "1") != sizes(1, "2")


SORE = [
    ("inside a character of four bytes", b"\xf0\x9f", b"\x94\x91"),
    ("inside a character of two bytes", b"\xc3", b"\xbc"),
    ("between CR and LF", b"\r", b"\n"),
    ("inside a field name", b"dat", b"a:"),
    ("before the colon", b"data", b":"),
    ("before the space", b"data:", b" "),
    ("inside a blank line", b"b\n", b"\ndata"),
]


@pytest.mark.parametrize(("spot", "before", "after"), SORE)
def test_twenty_seeds_cut_where_clients_break(spot: str, before: bytes, after: bytes) -> None:
    def cuts(seed: int) -> set[int]:
        pieces = cut_chunks([Chunk(STREAM)], Chunking("seed", seed))
        return set(accumulate(len(data) for _, data in pieces))

    found = [
        seed
        for seed in range(20)
        if any(STREAM[:at].endswith(before) and STREAM[at:].startswith(after) for at in cuts(seed))
    ]
    assert len(found) >= 5, spot


@given(CHUNKS)
def test_comments_and_crlf_change_no_event(parts: list[bytes]) -> None:
    def body(chunks: tuple[Chunk, ...]) -> bytes:
        return b"".join(chunk.data for chunk in chunks)

    before = events(b"".join(parts))
    commented, ended = with_comments(chunked(parts)), with_crlf(chunked(parts))
    assert events(body(commented)) == before
    assert events(body(ended)) == before
    assert events(body(with_crlf(commented))) == before
    assert len(commented) == len(ended) == len(parts)


def test_comments_stand_between_events_and_inside_them() -> None:
    body = b"event: a\ndata: 1\n\nevent: b\ndata: 2\n\n"
    assert with_comments([Chunk(body)])[0].data == (
        b": keep-alive\nevent: a\ndata: 1\n\nevent: b\n:data: no data\ndata: 2\n\n"
    )


def test_crlf_leaves_what_ends_so_already() -> None:
    edited = with_crlf([Chunk(b"a\r"), Chunk(b"\nb\n"), Chunk(b"c\rd\n")])
    assert [chunk.data for chunk in edited] == [b"a\r", b"\nb\r\n", b"c\rd\r\n"]


def test_raw_text_ends_at_markers_and_lines() -> None:
    body = b"<|channel|>analysis<|message|>one\ntwo<|end|>"
    ends = frame_ends(body, "text")
    assert [body[a:b] for a, b in pairwise((0, *ends))] == [
        *(b"<|channel|>", b"analysis", b"<|message|>", b"one\n", b"two", b"<|end|>")
    ]
