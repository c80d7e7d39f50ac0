"""Streams taken apart and put together: nothing changes but what was edited."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.events import Chunk, Exchange
from conformance.editing.stream import Stream, rechunked
from conformance.mutate import take_apart

LINES = (b"data: {}", b'data: {"a":1}', b": note", b"event: x", b"id: 1", b"odd", b"\xff", b"")
ENDS = (b"\n", b"\r\n", b"\r")


def stream(body: bytes, dialect: str = "openai.responses") -> Stream:
    return take_apart(Exchange(chunks=(Chunk(body, 1.0),)), dialect)


@given(
    st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(ENDS))).map(
        lambda lines: b"".join(line + end for line, end in lines)
    ),
    st.booleans(),
)
def test_pieces_joined_are_the_body(body: bytes, has_mark: bool) -> None:
    whole = (b"\xef\xbb\xbf" if has_mark else b"") + body
    assert stream(whole).body == whole


@given(st.binary(max_size=60))
def test_any_bytes_survive(body: bytes) -> None:
    assert stream(body).body == body


@given(st.lists(st.binary(max_size=9), max_size=9), st.binary(max_size=40))
def test_rechunked_chunks_are_the_new_body(parts: list[bytes], body: bytes) -> None:
    chunks = rechunked([Chunk(part, float(n)) for n, part in enumerate(parts)], body)
    assert b"".join(chunk.data for chunk in chunks) == body


def test_chunk_boundaries_stay_where_bytes_stayed() -> None:
    chunks = [Chunk(b"one ", 1.0), Chunk(b"two ", 2.0), Chunk(b"three", 3.0)]
    cut = rechunked(chunks, b"one TWO three")
    assert cut == (Chunk(b"one ", 1.0), Chunk(b"TWO ", 2.0), Chunk(b"three", 3.0))


def test_comment_inside_an_event_stays_in_its_piece() -> None:
    found = stream(b': out\n\nevent: a\n: in\ndata: {"type":"a"}\n\n: end\n\n')
    assert [piece.kind for piece in found.pieces] == ["comment", "event", "comment"]
    assert b": in\n" in found.pieces[1].raw


@pytest.mark.parametrize(
    ("raw", "edited"),
    [
        (b'data: {"type":"a"}\n\n', b'data: {"n":1}\n\n'),
        (b'data:{"type":"a"}\r\n\r\n', b'data:{"n":1}\r\n\r\n'),
        (b'event: b\ndata: {"type":\ndata: "a"}\nid: 7\n\n', b'event: b\ndata: {"n":1}\nid: 7\n\n'),
        (b'id: 7\r: x\rdata: {"type":"a"}\r\r', b'id: 7\r: x\rdata: {"n":1}\r\r'),
    ],
)
def test_edited_payload_leaves_other_lines_alone(raw: bytes, edited: bytes) -> None:
    assert stream(raw).with_payload(0, {"n": 1}).body == edited


def test_event_line_follows_the_type_that_it_named() -> None:
    found = stream(b'event: a\ndata: {"type":"a"}\n\n').with_payload(0, {"type": "b"})
    assert found.body == b'event: b\ndata: {"type":"b"}\n\n'


def test_numbers_are_counted_again_in_place() -> None:
    body = b"".join(b'data: {"type": "a",  "sequence_number": %d}\n\n' % n for n in (4, 5, 6))
    kept = body[len(body) // 3 :]
    found = stream(body).without(0).renumbered()
    assert found.body == kept.replace(b": 5}", b": 4}").replace(b": 6}", b": 5}")


def test_numbers_with_a_hole_stay() -> None:
    body = b"".join(b'data: {"type":"a","sequence_number":%d}\n\n' % n for n in (4, 6, 7))
    found = stream(body).without(0).renumbered()
    assert found.body.count(b":6}") == 1
    assert found.body.count(b":7}") == 1
