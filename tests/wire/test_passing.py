"""A body is passed on as the careful reader would spell it, however its bytes were cut."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from conformance.core.chunked import ChunkedBodyReader, PlainBodyReader, part_bytes
from conformance.wire.passing import ChunkedBodyPasser, PlainBodyPasser

CHUNKS = st.lists(st.binary(min_size=1, max_size=40), max_size=8)
CUTS = st.lists(st.integers(1, 30), max_size=60)
# What stands between chunks, and what ends a body.
ODD = st.sampled_from(
    (
        *(b"", b"", b"1;a=b\r\nx\r\n", b"1\nx\r\n", b"1\r\nx\n", b"1\r\nxy\r\n", b"zz\r\n"),
        *(b"0x1\r\nx\r\n", b"\r\n", b"1 \r\nx\r\n", b"+1\r\nx\r\n", b"1_0\r\n", b"\n"),
        b"0" * 40 + b"1\r\nx\r\n",
    )
)
SIZE_OR_END = re.compile(rb"(?:[0-9a-f]+\r\n|\r\n)?")
ENDS = st.sampled_from([b"", b"0\r\n\r\n", b"0\r\na: b\r\n\r\nrest", b"00\n\nrest", b"0"])


@given(st.lists(st.tuples(CHUNKS, ODD), max_size=3), ENDS, CUTS)
@example([([b"x"], b"1\r\nx\n")], b"0\r\n\r\n", [1] * 30)
def test_chunks_are_passed_on_as_they_are_read(
    parts: list[tuple[list[bytes], bytes]], end: bytes, cuts: list[int]
) -> None:
    wire = b"".join(
        b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in chunks) + odd for chunks, odd in parts
    )
    wire += end
    reader, passer = ChunkedBodyReader(), ChunkedBodyPasser()
    read = passed = b""
    for cut in (*cuts, len(wire)):
        data, wire = wire[:cut], wire[cut:]
        if data and not passer.done and not passer.fault:
            read += part_bytes(reader.feed(data))
            passed += passer.feed(data)
            # A size is passed on before the data behind it, an odd line end with what follows it.
            ahead, upstream = passed[len(read) :], read[len(passed) :]
            assert passed + upstream == read + ahead
            assert SIZE_OR_END.fullmatch(ahead + upstream)
    assert (passer.done, passer.fault, passer.rest) == (reader.done, reader.fault, reader.rest)
    assert passed == read or not (passer.done or passer.fault)


@given(CHUNKS)
def test_a_whole_chunk_is_passed_on_at_once(chunks: list[bytes]) -> None:
    passer = ChunkedBodyPasser()
    for one in chunks:
        chunk = b"%x\r\n%s\r\n" % (len(one), one)
        assert passer.feed(chunk) == chunk


@given(st.binary(max_size=60), st.none() | st.integers(0, 60), CUTS)
def test_other_bodies_are_passed_on(wire: bytes, length: int | None, cuts: list[int]) -> None:
    reader, passer = PlainBodyReader(length), PlainBodyPasser(length)
    for cut in (*cuts, len(wire)):
        data, wire = wire[:cut], wire[cut:]
        if data and not passer.done:
            assert passer.feed(data) == b"".join(part.data for part in reader.feed(data))
    assert (passer.done, passer.may_end, passer.rest) == (reader.done, reader.may_end, reader.rest)
