"""Compression comes off under any chunking, and never beyond the limit."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.content_coding import (
    ContentDecoder,
    UndecodableError,
    install_hint,
    readable_codings,
)


def _brotli(data: bytes) -> bytes:
    import brotli  # noqa: PLC0415  # an extra

    packed: bytes = brotli.compress(data)
    return packed


def _zstd(data: bytes) -> bytes:
    import zstandard  # noqa: PLC0415  # an extra

    packed: bytes = zstandard.compress(data)
    return packed


Pack = Callable[[bytes], bytes]
PACKED: dict[str, Pack] = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "X-GZIP": gzip.compress,
    "deflate": zlib.compress,
}
PACKED |= {
    name: pack for name, pack in (("br", _brotli), ("zstd", _zstd)) if name in readable_codings()
}


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places} | {len(data)})
    starts = [0, *ends]
    return [data[a:b] for a, b in zip(starts, ends, strict=False)]


@given(
    st.sampled_from(sorted(PACKED)), st.binary(max_size=2000), st.lists(st.integers(0), max_size=9)
)
def test_what_was_packed_comes_out(encoding: str, data: bytes, places: list[int]) -> None:
    decoder = ContentDecoder(encoding, 1 << 20)
    assert b"".join(map(decoder.feed, cut(PACKED[encoding](data), places))) == data
    assert not decoder.is_full


@given(st.sampled_from(sorted(PACKED)), st.integers(1, 5000), st.integers(1, 500))
def test_no_more_comes_out_than_the_limit(encoding: str, size: int, most: int) -> None:
    decoder = ContentDecoder(encoding, most)
    out = b"".join(map(decoder.feed, cut(PACKED[encoding](b"a" * size), [7, 50])))
    assert out == b"a" * min(size, most)
    assert decoder.is_full == (size >= most)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "gzip, br", "x" * 9999])
def test_what_cannot_be_unpacked_is_reported(encoding: str) -> None:
    with pytest.raises(UndecodableError):
        ContentDecoder(encoding, 100).feed(b"data: plain\n\n")


def test_members_may_follow_each_other() -> None:
    packed = b"".join(gzip.compress(text) for text in (b"one ", b"", b"two"))
    decoder = ContentDecoder("gzip", 100)
    assert (
        b"".join(decoder.feed(packed[at : at + 5]) for at in range(0, len(packed), 5)) == b"one two"
    )


@pytest.mark.parametrize("encoding", sorted({"br", "zstd"} - readable_codings()))
def test_who_lacks_a_library_is_reported_which(encoding: str) -> None:
    with pytest.raises(UndecodableError, match=install_hint(encoding)):
        ContentDecoder(encoding, 100).feed(b"x")


@pytest.mark.parametrize("encoding", ["br", "zstd"])
def test_a_bomb_ends_at_the_limit(encoding: str) -> None:
    if encoding not in PACKED:
        pytest.skip(f"no library for {encoding} is here: {install_hint(encoding)}")
    packed = PACKED[encoding](b"a" * 50_000_000)
    decoder = ContentDecoder(encoding, 1 << 20)
    tracemalloc.start()
    try:
        assert len(decoder.feed(packed)) == 1 << 20
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    assert decoder.is_full
    assert decoder.feed(packed) == b""


def test_frames_of_zstd_may_follow_each_other() -> None:
    if "zstd" not in PACKED:
        pytest.skip(f"no library for zstd is here: {install_hint('zstd')}")
    packed = b"".join(map(PACKED["zstd"], (b"one ", b"two")))
    decoder = ContentDecoder("zstd", 100)
    assert b"".join(decoder.feed(packed[at : at + 3]) for at in range(0, len(packed), 3)) == (
        b"one two"
    )
