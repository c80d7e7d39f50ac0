"""What is taken of a body can be recorded, and read again; more is cut where a bound is met."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette import Header, Writer
from conformance.core.events import Request, Response
from conformance.wire import received
from conformance.wire.received import ReceivedBody

PIECES = st.sampled_from(
    [b"\n", b"\r", b"\r\n", b"data: x", b"\x01", b'"', b"\xff", b"\xffa", b"\xe2\x80\xa8", b"\n\n"]
)
KINDS = ("text/event-stream", "application/x-ndjson")


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("size", [7, 100_000, 10_000_000])
def test_body_ends_after_its_lines(end: bytes, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(received, "MOST_LINES", 20_000)
    body, whole = ReceivedBody(), b"".join(b"%d%b" % (n % 10, end) for n in range(30_000))
    taken = b""
    for start in range(0, len(whole), size):
        data, broken = body.take(whole[start : start + size])
        taken += data
        if broken:
            break
    assert broken is not None
    assert str(broken) == "it had not ended after 20,000 lines"
    expected = whole[: 20_000 * (1 + len(end))]
    # Where a cut divides CR LF, its LF is a line more.
    assert taken == expected if end != b"\r\n" else expected.startswith(taken)


def test_a_body_ends_after_a_number_of_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(received, "MOST_CHUNKS", 3)
    body = ReceivedBody()
    ends = [body.take(b"x")[1] for _ in range(3)]
    assert [str(end or "") for end in ends] == ["", "", "it had not ended after 3 chunks"]


def test_a_body_ends_where_its_recording_would_be_too_large() -> None:
    body = ReceivedBody(most_bytes=1_000_000)
    data, broken = body.take(b"\x01" * 1_000_000)
    assert 0 < len(data) < 1_000_000 // 6
    assert str(broken) == f"it had not ended after {len(data)} bytes"


@given(st.lists(st.lists(PIECES, max_size=60).map(b"".join), max_size=8), st.sampled_from(KINDS))
def test_a_recording_takes_no_more_than_was_counted(chunks: list[bytes], kind: str) -> None:
    body = ReceivedBody()
    response = Response(200, "1.1", (("content-type", kind),))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.cassette.jsonl"
        with Writer(path, Header()) as writer:
            writer.request(Request())
            writer.response(response)
            writer.end("eof")
        empty = path.stat().st_size
        with Writer(path, Header()) as writer:
            writer.request(Request())
            writer.response(response)
            for data in chunks:
                writer.chunk(body.take(data)[0], ms=12345.678)
            writer.end("eof")
        assert path.stat().st_size - empty <= body.recorded_size
