"""Writing cassettes: every byte comes back, and files are whole or readable."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.cassette import Cassette, CassetteClock, Header, Redaction, Writer, read, write
from conformance.cassette.segments import segments
from conformance.cassette.write import _plain_lines
from conformance.core.errors import CassetteError, UsageError
from conformance.core.events import ENDINGS, Chunk, Exchange, Request, Response
from conformance.core.framing import Framing

TYPES = ("text/event-stream", "application/x-ndjson", "application/json")
PIECES = st.sampled_from(
    [
        b"data: {}\n\n",
        b"\r\n",
        b"\n",
        b"\r",
        b"\xe2\x80\xa8",
        "é".encode(),
        b"\xff",
        b"\xed\xa0\x80",
    ]
)
BYTES = st.one_of(st.binary(max_size=40), st.lists(PIECES, max_size=12).map(b"".join))
MS = st.one_of(st.none(), st.floats(0, 1e9))
CHUNKS = st.lists(st.builds(Chunk, BYTES, MS), max_size=8).map(tuple)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
HEADERS = st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple)
REQUESTS = st.builds(Request, TEXT, TEXT, HEADERS, JSON)
RESPONSES = st.builds(
    lambda status, kind: Response(status, "1.1", (("content-type", kind),)),
    st.none() | st.integers(100, 599),
    st.sampled_from(TYPES),
)
EXCHANGES = st.builds(
    Exchange,
    request=st.none() | REQUESTS,
    response=RESPONSES,
    chunks=CHUNKS,
    end=st.sampled_from(ENDINGS),
    dialect=st.none() | TEXT.filter(bool),
    scenario=TEXT,
    role=TEXT,
    hop=st.sampled_from(["", "upstream", "downstream"]),
    after=st.none() | st.integers(1, 99),
    seen=st.none() | st.lists(st.dictionaries(TEXT, JSON, max_size=2), max_size=2).map(tuple),
    user_choices=st.none() | st.dictionaries(TEXT, JSON, max_size=2),
)
COMMON = settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def numbered(found: list[Exchange]) -> tuple[Exchange, ...]:
    fields = ("request", "response", "chunks", "end", "dialect", "scenario", "role", "hop", "after")
    return tuple(
        Exchange(
            number=n,
            seen=one.seen,
            user_choices=one.user_choices,
            **{f: getattr(one, f) for f in fields},
        )
        for n, one in enumerate(found, 1)
    )


@COMMON
@given(chunks=CHUNKS, kind=st.sampled_from(TYPES))
def test_chunks_come_back_unchanged(tmp_path: Path, chunks: tuple[Chunk, ...], kind: str) -> None:
    path = tmp_path / "a.cassette.jsonl"
    response = Response(200, "1.1", (("content-type", kind),))
    write(path, Cassette(Header(), (Exchange(response=response, chunks=chunks),)), seal=True)
    assert read(path).exchanges[0].chunks == chunks


@pytest.mark.slow
@COMMON
@given(found=st.lists(EXCHANGES, max_size=3), seal=st.booleans(), times=st.tuples(MS, MS, MS))
def test_reading_and_writing_again_gives_the_same_file(
    tmp_path: Path,
    found: list[Exchange],
    seal: bool,
    times: tuple[float | None, float | None, float | None],
) -> None:
    path, again = tmp_path / "a.cassette.jsonl", tmp_path / "b.cassette.jsonl.gz"
    exchanges = numbered(found)
    clocks = {one.number: CassetteClock(*times) for one in exchanges}
    header = Header(origin="live", expect={"a": "FAIL"}, extra={"x": [1]}, target={"name": "ogx"})
    first = Cassette(header, exchanges, clocks, sealed=seal, trailer=(Redaction("header", 1),))
    write(path, first)
    back = read(path)
    assert back.exchanges == exchanges
    assert back.clocks == clocks
    assert back.trailer == first.trailer
    write(again, back)
    assert gzip.decompress(again.read_bytes()) == path.read_bytes()


def test_lines_are_cut_at_event_ends() -> None:
    data = b"data: 1\n\ndata: 2\r\n\r\n\n: ping\n\nda"
    assert list(segments(data)) == [
        ("text", "data: 1\n\n"),
        ("text", "data: 2\r\n\r\n\n"),
        ("text", ": ping\n\n"),
        ("text", "da"),
    ]
    assert list(segments(b"{}\n{}\n", "lines")) == [("text", "{}\n")] * 2
    assert list(segments(b"a\r\nb\r\n")) == [("text", "a\r\nb\r\n")]


def test_only_stray_bytes_become_hex() -> None:
    assert list(segments(b"\xa9 27 \xc3")) == [("hex", "a9"), ("text", " 27 "), ("hex", "c3")]
    assert list(segments("é".encode())) == [("text", "é")]


def test_binary_does_not_multiply_lines() -> None:
    assert list(segments(b"a\xff" * 1000)) == [("hex", "61ff" * 1000)]


def test_long_lines_are_cut_between_characters() -> None:
    data = "€".encode() * 1_000_000
    found = list(segments(data))
    assert len(found) == 3
    assert all(kind == "text" for kind, _ in found)
    assert "".join(text for _, text in found).encode() == data


def test_what_breaks_lines_in_viewers_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    chunk = Chunk("a\u2028b\u0085c\u202ed\u007f".encode())
    write(path, Cassette(Header(), (Exchange(chunks=(chunk,)),)))
    text = path.read_text()
    assert len(text.splitlines()) == text.count("\n")
    assert "\u202e" not in text
    assert read(path).exchanges[0].chunks == (chunk,)


def test_a_failing_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    path.write_text("old")
    with pytest.raises(UsageError), Writer(path, Header()) as writer:
        writer.chunk(b"before the request")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.cassette.jsonl"]


def test_values_that_are_not_json_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value in (float("nan"), {1, 2}, "\ud800", deep):
        with pytest.raises(CassetteError, match="cannot be written as JSON"):
            write(path, Cassette(Header(), (Exchange(request=Request(json=value)),)))
    assert not list(tmp_path.iterdir())
    while deep:
        deep = deep.pop()


def test_appending_is_readable_at_every_moment(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    with Writer(path, Header(origin="live"), append=True) as writer:
        assert read(path).header.origin == "live"
        writer.request(Request())
        writer.response(Response(200))
        writer.chunk(b"data: 1\n\n", ms=1.5)
        torn = read(path)
        assert (torn.torn, torn.exchanges[0].end) == (True, "open")
        assert torn.exchanges[0].chunks == (Chunk(b"data: 1\n\n", 1.5),)
        writer.end("client-closed")
        writer.redactions([Redaction("header", 2)])
    assert read(path).trailer == (Redaction("header", 2),)
    assert not read(path).torn


def test_appending_survives_an_error_and_refuses_an_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl.gz"
    with pytest.raises(UsageError), Writer(path, Header(origin="live"), append=True) as writer:
        writer.chunk(b"before the request")
    assert read(path).header.origin == "live"
    with pytest.raises(CassetteError, match="cannot be written: file exists"):
        Writer(path, Header(), append=True)


def test_exchanges_may_interleave(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    with Writer(path, Header(), seal=True) as writer:
        first = writer.request(Request(path="/a"))
        second = writer.request(Request(path="/b"), after=first)
        for number in (second, first):
            writer.response(Response(200), exchange=number, ms=3)
            writer.chunk(b"x", exchange=number)
        writer.chunk(b"y", exchange=first, ms=1)
        writer.end("eof", exchange=first)
        writer.end("reset", exchange=second)
    one, two = read(path).exchanges
    assert one.chunks == (Chunk(b"x"), Chunk(b"y", 1.0))
    assert (two.chunks, two.end, two.after) == ((Chunk(b"x"),), "reset", 1)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("exchange") for line in lines] == [None, 1, 2, None, None, 1, 1, 1, 1, None]


def test_calls_out_of_order_are_refused(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.cassette.jsonl", Header()) as writer:
        with pytest.raises(UsageError, match="exchange 0 is not open"):
            writer.response(None)
        with pytest.raises(UsageError, match="before the request"):
            writer.seen([])
        writer.request(None)
        with pytest.raises(UsageError, match="a chunk before the response"):
            writer.chunk(b"")
        with pytest.raises(UsageError, match="opened before"):
            writer.request(None, exchange=1)
        writer.response(None)
        with pytest.raises(UsageError, match="a second response"):
            writer.response(None)
        writer.end("eof")
        with pytest.raises(UsageError, match="exchange 1 is not open"):
            writer.end("eof")


@pytest.mark.parametrize("name", ["missing/a.cassette.jsonl", "a.cassette.jsonl.zst"])
def test_a_target_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(CassetteError, match=r"a\.cassette\.jsonl"):
        Writer(tmp_path / name, Header())
    assert not list(tmp_path.iterdir())


CHARACTERS = st.text(st.characters(max_codepoint=0x8F, exclude_categories=["Cs"]), max_size=8)
PLAIN_PIECES = st.lists(st.one_of(CHARACTERS, st.sampled_from(["\n", "\n\n", "data: a\n\n"])))


@COMMON
@given(PLAIN_PIECES, st.floats(), st.sampled_from(("sse", "lines", None)))
def test_fast_lines_equal_slow_ones(pieces: list[str], ms: float, framing: Framing | None) -> None:
    text = "".join(pieces)
    data = text.encode()
    quick = _plain_lines(data, ms, framing)
    if quick:
        fields: list[dict[str, object]] = [{kind: v} for kind, v in segments(data, framing)]
        fields[0] = {"ms": ms, **fields[0]}
        expected = [json.dumps(each, separators=(",", ":")).encode() for each in fields]
        assert quick == [line + b"\n" for line in expected]
    else:
        blank = "\n\n" if framing == "lines" else "\n\n\n"
        plain = text and text.isascii() and not set(text) & set("\r\x7f") and blank not in text
        assert not (plain and math.isfinite(ms))
