"""Chunks are told from the wire however its bytes were cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.chunked import ChunkedBodyReader, PlainBodyReader

CHUNKS = st.lists(st.binary(min_size=1, max_size=40), max_size=8)
CUTS = st.lists(st.integers(1, 30), max_size=60)


def fed(reader: PlainBodyReader | ChunkedBodyReader, wire: bytes, cuts: list[int]) -> list[bytes]:
    """The chunks, put together from their pieces; every announced size is held."""
    chunks: list[bytes] = []
    held, size = b"", None
    for cut in (*cuts, len(wire)):
        data, wire = wire[:cut], wire[cut:]
        for part in reader.feed(data) if data else []:
            assert (part.size is not None) == (size is None)
            size = size if part.size is None else part.size
            held += part.data
            if part.whole:
                assert len(held) == size
                chunks.append(held)
                held, size = b"", None
    return chunks if size is None else [*chunks, held]


@given(CHUNKS, CUTS, st.sampled_from([b"", b";name=value", b" ; a=b"]), st.booleans())
def test_chunks_come_out_as_they_were_sent(
    chunks: list[bytes], cuts: list[int], extension: bytes, trailer: bool
) -> None:
    wire = b"".join(b"%X%s\r\n%s\r\n" % (len(one), extension, one) for one in chunks)
    wire += b"0\r\n" + (b"x-cost: 1\r\n" if trailer else b"") + b"\r\n"
    reader = ChunkedBodyReader()
    assert fed(reader, wire + b"HTTP/1.1 200", [*cuts, len(wire)]) == chunks
    assert reader.done
    assert not reader.fault


def test_what_follows_the_body_is_kept() -> None:
    for reader, wire in ((ChunkedBodyReader(), b"1\r\nx\r\n0\r\n\r\n"), (PlainBodyReader(1), b"x")):
        reader.feed(wire + b"HTTP/1.1 200 OK")
        assert reader.done
        assert reader.rest == b"HTTP/1.1 200 OK"


@pytest.mark.parametrize(
    ("wire", "kept"),
    [
        (b"1\r\nx\r\nzz\r\n", [b"x"]),
        (b"1\r\nx\r\n-1\r\n", [b"x"]),
        (b"1\r\nx\r\n\r\n", [b"x"]),
        (b"1\r\nxyz\r\n", [b"x"]),
        (b"1\r\nx\r\n" + b"0" * 20_000, [b"x"]),
        (b"ffffffffffffffffffff\r\n", []),
        (b"0\r\n" + b"a: b\r\n" * 20_000, []),
    ],
)
@pytest.mark.parametrize("size", [1, 100_000_000])
def test_broken_coding_keeps_what_came(wire: bytes, kept: list[bytes], size: int) -> None:
    reader = ChunkedBodyReader()
    got: list[bytes] = []
    for at in range(0, len(wire), size):
        got += [part.data for part in reader.feed(wire[at : at + size]) if part.data]
        if reader.fault:
            break
    assert reader.fault
    assert not reader.done
    assert got == kept


@given(st.binary(max_size=50), CUTS)
def test_a_body_of_known_length_ends_by_itself(body: bytes, cuts: list[int]) -> None:
    reader = PlainBodyReader(len(body))
    assert b"".join(fed(reader, body, cuts)) == body
    assert reader.done
    assert reader.may_end


def test_a_body_without_length_ends_with_the_connection() -> None:
    reader = PlainBodyReader(None)
    assert [part.data for part in reader.feed(b"abc")] == [b"abc"]
    assert not reader.done
    assert reader.may_end
