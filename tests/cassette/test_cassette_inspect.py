"""The view of a stream: real lines, chunk marks, times, event numbers."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cassette import inspect, open_recording
from conformance.cassette.inspect import inspect_connection, message_places
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.core.framing import exchange_frames
from tests.cassette.saved_files import stored
from tests.cassette.sockets import LIMIT, answer, asked, cassette_text
from tests.growth import grows_linearly

ROW = re.compile(r".{10}(.{8}) +[0-9,]* [|:] (.*)")
SSE = (("content-type", "text/event-stream"),)


def rows(exchange: Exchange) -> list[str]:
    return list(inspect(exchange))


def test_a_stream_is_shown_with_its_gutter() -> None:
    exchange = Exchange(
        request=Request(path="/v1/responses"),
        response=Response(200, "1.1", SSE),
        chunks=(
            Chunk(b"event: a\ndata: 1\n\n: ping\nda", 0.31),
            Chunk(b"ta: \xe2\x80", 52.2),
            Chunk(b"\xa8\x1b[1m\r\n\r\n", 1.0),
            Chunk(b"", 1.0),
        ),
        end="reset",
    )
    assert rows(exchange) == [
        "> POST /v1/responses",
        "< 200 HTTP/1.1",
        "< content-type: text/event-stream",
        "       +ms   chunk  event",
        "       0.3      #1      1 | event: a",
        "                          | data: 1",
        "                          | ",
        "                        2 | : ping",
        "                        3 | da",
        "      52.5      #2        : ta: \\xe2\\x80",
        "      53.5      #3        : \\xa8␛[1m␍",
        "                          | ␍",
        "      54.5      #4        | ",
        "* end: reset",
    ]


@pytest.mark.parametrize(
    ("kind", "body", "numbers"),
    [
        ("application/json", b"{\n}\n", ["1", ""]),
        ("application/x-ndjson", b"{}\n\n{}\n", ["1", "", "2"]),
        ("text/event-stream", b"data: 1\n\ndata: 2\n", ["1", "", "2"]),
    ],
)
def test_events_are_numbered_by_content_type(kind: str, body: bytes, numbers: list[str]) -> None:
    exchange = Exchange(response=Response(headers=(("content-type", kind),)), chunks=(Chunk(body),))
    shown = [row[19:25].strip() for row in rows(exchange) if row[25:27] == " |"]
    assert shown == numbers


def test_long_lines_are_clipped_with_a_count() -> None:
    exchange = Exchange(chunks=(Chunk(b"data: " + b"a" * 1000),))
    clipped, full = list(inspect(exchange))[-2], list(inspect(exchange, full=True))[-2]
    assert clipped.endswith("aaa... (606 more)")
    assert full.endswith("a" * 1000)


def test_times_stop_where_no_clock_was_kept() -> None:
    exchange = Exchange(chunks=(Chunk(b"a\n", 1.0), Chunk(b"b\n"), Chunk(b"c\n", 1.0)))
    assert [row[:10].strip() for row in rows(exchange)[1:-1]] == ["1.0", "", ""]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.sampled_from([b"data: x", b"\r", b"\n", b"\xff", b":"]), max_size=5)))
def test_every_byte_and_every_chunk_is_shown_once(pieces: list[list[bytes]]) -> None:
    chunks = tuple(Chunk(b"".join(one), 1.0) for one in pieces)
    shown = [row for row in map(ROW.fullmatch, rows(Exchange(chunks=chunks))) if row]
    marks = [row[1].strip() for row in shown if row[1].strip()]
    assert marks == [f"#{number}" for number in range(1, len(chunks) + 1)]
    body = b"".join(chunk.data for chunk in chunks).replace(b"\n", b"")
    text = "".join(row[2] for row in shown).replace("␍", "\r").replace("\\xff", "\ufffd")
    assert text == body.replace(b"\xff", "\ufffd".encode()).decode()


def test_nothing_that_moves_a_terminal_gets_out() -> None:
    nasty = "\x00\x1b]0;x\x07\x7f\u009b\u202e\u200b"
    exchange = Exchange(
        request=Request(nasty, nasty),
        response=Response(200, nasty, ((nasty, nasty),)),
        chunks=(Chunk(nasty.encode()),),
    )
    assert all(row.isprintable() for row in rows(exchange))


def test_single_byte_chunks_take_linear_time() -> None:
    def show(size: int) -> None:
        exchange = Exchange(chunks=tuple(Chunk(b"\n", 1.0) for _ in range(size)))
        assert sum(1 for _ in inspect(exchange)) == size + 2

    assert grows_linearly(show, 100_000)


@given(st.lists(st.sampled_from([b": c\n", b"data: x\n", b"\n", b"id: 1\r\n", b"\r", b"junk\n"])))
def test_numbers_are_those_of_the_frames(lines: list[bytes]) -> None:
    """Also of events with comments inside, which have numbers before the event."""
    exchange = Exchange(response=Response(200, "1.1", SSE), chunks=(Chunk(b"".join(lines)),))
    numbers: dict[int, list[int]] = {}
    for number, (frame, _) in enumerate(exchange_frames(exchange), 1):
        numbers.setdefault(frame.offset, []).append(number)
    starts = [line.start() for line in re.finditer(rb"[^\r\n]*(?:\r\n|\r|\n)", exchange.body)]
    shown = [row[19:26].strip() for row in rows(exchange)[3 : 3 + len(starts)]]
    assert shown == [",".join(map(str, numbers.get(start, ()))) for start in starts]


@pytest.mark.parametrize("event", [b":\n", b"data:\n:\n\n"], ids=["comments", "comments inside"])
def test_memory_does_not_grow_with_the_lines(event: bytes) -> None:
    exchange = Exchange(response=Response(200, "1.1", SSE), chunks=(Chunk(event * 30_000),))
    tracemalloc.start()
    try:
        assert sum(1 for _ in inspect(exchange)) >= 30_000
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 16 * len(exchange.body)  # a line held as a value of its own takes a hundred


def test_every_message_is_shown_with_its_place(tmp_path: Path) -> None:
    talk = [asked("a"), *answer("r", "a")[:2], ("client", {"type": "response.steer"})]
    text = cassette_text([*talk, ("server", {"type": "codex.rate_limits"}), ("server", LIMIT)])
    kept = open_recording(stored(tmp_path, "ws.cassette.jsonl", text)).kept
    assert kept is not None
    (connection,) = kept.exchanges
    shown = list(inspect_connection(connection, message_places(kept)[1]))
    rows = [line for line in shown if "#" in line[:20]]
    head = [line for line in shown if line not in rows]
    assert head[:2] == ["> GET /v1/responses", "< 101 HTTP/1.1"]
    assert head[-1] == "* end: eof"
    assert [" ".join(row[:27].split()) for row in rows] == [
        *("1.5 #1 1.0 >", "3.0 #2 1.1 <", "4.5 #3 1.2 <", "6.0 #4 >", "7.5 #5 <", "9.0 #6 1.3 <")
    ]


def test_the_code_of_a_close_is_shown(tmp_path: Path) -> None:
    text = cassette_text([asked()]).replace('"end": "eof"', '"end": "eof", "close_code": 1001')
    kept = open_recording(stored(tmp_path, "ws.cassette.jsonl", text)).kept
    assert kept is not None
    assert list(inspect_connection(kept.exchanges[0], {}))[-1] == "* end: eof, close 1001"
