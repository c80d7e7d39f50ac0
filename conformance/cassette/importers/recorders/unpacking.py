"""Decompresses a body, if both its head and its bytes show compression.

Many recorders keep the original head with a body that they have decoded. The output is bounded for
the whole file: an entry that exceeds the rest is refused.
"""

from __future__ import annotations

import zlib
from typing import Final

from conformance.cassette.importers import MAX_IMPORT
from conformance.cassette.importers.http_messages import Headers, is_packed, without_transfer_chunks
from conformance.core.content_coding import ContentDecoder, UndecodableError
from conformance.core.events import Chunk

_ZLIB: Final = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": 15}


def unpacked(
    chunks: tuple[Chunk, ...], coding: str, headers: Headers, most: int
) -> tuple[Chunk, ...]:
    """The chunks without codings. Raises ValueError for a broken one, and past `most` bytes."""
    sent = [value.lower() for name, value in headers if name.lower() == "transfer-encoding"]
    if any("chunked" in each for each in sent):
        found = without_transfer_chunks(chunks)
        chunks = chunks if found is None else found[0]
    name = coding.strip().lower()
    if name in ("", "identity") or not is_packed(name, chunks):
        if sum(len(each.data) for each in chunks) > most:
            raise _too_much()
        return chunks
    if name in _ZLIB:
        return _inflated(chunks, _ZLIB[name], most)
    decoder = ContentDecoder(name, most)
    try:
        out = tuple(Chunk(decoder.feed(each.data), each.ms) for each in chunks)
    except UndecodableError as err:
        raise ValueError(str(err)) from err
    if decoder.is_full:
        raise _too_much()
    return out


def _inflated(chunks: tuple[Chunk, ...], wbits: int, most: int) -> tuple[Chunk, ...]:
    inflater = zlib.decompressobj(wbits)
    out: list[Chunk] = []
    left = most
    try:
        for each in chunks:
            data = inflater.decompress(each.data, left + 1)
            left -= len(data)
            if left < 0 or inflater.unconsumed_tail:
                raise _too_much()
            out.append(Chunk(data, each.ms))
    except zlib.error as err:
        raise ValueError(f"it cannot be inflated: {err}") from err
    if not inflater.eof:
        raise ValueError("it is cut short")
    return tuple(out)


def _too_much() -> ValueError:
    return ValueError(f"it inflates to more than {MAX_IMPORT:,} bytes")
