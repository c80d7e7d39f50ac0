"""Compression comes off under any chunking, and never beyond the limit."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.targets.server_body import Decoder, UndecodableError

Pack = Callable[[bytes], bytes]
PACKED: dict[str, Pack] = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "X-GZIP": gzip.compress,
    "deflate": zlib.compress,
}


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places} | {len(data)})
    starts = [0, *ends]
    return [data[a:b] for a, b in zip(starts, ends, strict=False)]


@given(
    st.sampled_from(sorted(PACKED)), st.binary(max_size=2000), st.lists(st.integers(0), max_size=9)
)
def test_what_was_packed_comes_out(encoding: str, data: bytes, places: list[int]) -> None:
    decoder = Decoder(encoding, 1 << 20)
    pieces = cut(PACKED[encoding](data), places)
    assert b"".join(map(decoder.feed, pieces)) == data
    assert not decoder.is_full


@given(st.sampled_from(sorted(PACKED)), st.integers(1, 5000), st.integers(1, 500))
def test_no_more_comes_out_than_the_limit(encoding: str, size: int, most: int) -> None:
    decoder = Decoder(encoding, most)
    out = b"".join(map(decoder.feed, cut(PACKED[encoding](b"a" * size), [7, 50])))
    assert out == b"a" * min(size, most)
    assert decoder.is_full == (size >= most)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "gzip, br", "x" * 9999])
def test_what_cannot_be_unpacked_is_told(encoding: str) -> None:
    with pytest.raises(UndecodableError):
        Decoder(encoding, 100).feed(b"data: plain\n\n")


def test_members_may_follow_each_other() -> None:
    packed = b"".join(gzip.compress(text) for text in (b"one ", b"", b"two"))
    decoder = Decoder("gzip", 100)
    assert (
        b"".join(decoder.feed(packed[at : at + 5]) for at in range(0, len(packed), 5)) == b"one two"
    )
