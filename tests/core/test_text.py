"""Raw text with markers: how it falls into frames, under every way of cutting."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from conformance.core.events import Chunk, Exchange, Frame, Response
from conformance.core.framing import Framing, framing_of
from conformance.core.text import MOST_PIECE_BYTES, TextParser
from tests.each import each

WIRE = st.lists(
    st.sampled_from(
        [
            *(b"<|end|>", b"<|channel|>", b"<|", b"|>", b"<", b"|", b"\n", b"\r\n", b"a b"),
            *(b"\xff", "ひ".encode(), b"<|" + b"x" * 32 + b"|>", b"<|" + b"x" * 33 + b"|>"),
        ]
    )
).map(b"".join)


def parsed(*chunks: bytes) -> list[Frame]:
    parser = TextParser()
    found = [frame for chunk in chunks for frame in parser.feed(chunk)]
    return [*found, *parser.close()]


def texts(*chunks: bytes) -> list[str]:
    return [frame.data for frame in parsed(*chunks)]


def test_markers_and_lines_are_frames() -> None:
    wire = b"<|channel|>analysis<|message|>one\ntwo<|end|>"
    assert texts(wire) == ["<|channel|>", "analysis", "<|message|>", "one\n", "two", "<|end|>"]


def test_what_is_almost_a_marker_is_text() -> None:
    assert texts(b"a <| b |> <|no word|> <|") == ["a <| b |> <|no word|> <|"]


def test_a_character_that_the_end_cut_is_left_out() -> None:
    assert texts("ひ".encode()[:2]) == []
    assert texts(b"a" + "ひ".encode()[:1]) == ["a"]


def test_a_long_line_is_cut_between_characters() -> None:
    wire = b"a" + "ひ".encode() * MOST_PIECE_BYTES
    found = texts(wire)
    assert len(found) == 4
    assert "".join(found) == wire.decode()


@given(WIRE, st.lists(st.integers(0, 400)))
def test_frames_do_not_depend_on_chunks(wire: bytes, places: list[int]) -> None:
    cuts = sorted({0, len(wire), *(place for place in places if place < len(wire))})
    assert parsed(*[wire[a:b] for a, b in pairwise(cuts)]) == parsed(wire)


@given(st.integers(-40, 40), st.sampled_from([b"<|end|>", b"\n", b"<|en", b""]))
def test_long_lines_do_not_depend_on_chunks(shift: int, ending: bytes) -> None:
    wire = b"a" * (MOST_PIECE_BYTES + shift) + ending + b"b" * 50
    assert parsed(*(wire[n : n + 999] for n in range(0, len(wire), 999))) == parsed(wire)


@given(WIRE)
def test_frames_hold_all_of_the_text_where_it_stood(wire: bytes) -> None:
    whole = re.sub(rb"[\xe3\xff][\x80-\xbf]{0,1}\Z", b"", wire)
    for frame in parsed(whole):
        assert frame.data.encode()[:1] in (whole[frame.offset : frame.offset + 1], b"\xef")


@each(
    [
        (b"<|channel|>final", "text/plain", None, "text"),
        (b"<|channel|>final", "", None, "text"),
        (b"<", "", None, "sse"),
        (b"<html>", "text/html", None, "sse"),
        (b"<|channel|>final", "text/event-stream", None, "sse"),
        (b"analysisWell", "text/plain", None, "sse"),
        (b"analysisWell", "text/plain", "text", "text"),
        (b"data: {}\n\n", "", "text", "sse"),
        (b'{"choices": []}', "", "text", "body"),
    ]
)
def test_marker_or_expectation_decides(
    case: tuple[bytes, str, Framing | None, Framing],
) -> None:
    wire, kind, expected, framing = case
    response = Response(headers=(("content-type", kind),) if kind else ())
    for cut in range(1, len(wire) + 1):
        chunks = tuple(Chunk(wire[n : n + cut]) for n in range(0, len(wire), cut))
        assert framing_of(Exchange(response=response, chunks=chunks), expected) == framing
