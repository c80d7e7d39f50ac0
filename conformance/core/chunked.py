"""Transfer chunks: where each begins and ends in a body on the wire, and how it is written.

https://www.rfc-editor.org/rfc/rfc9112#section-7.1

    chunked-body = *chunk last-chunk trailer-section CRLF
    chunk        = chunk-size [ chunk-ext ] CRLF chunk-data CRLF

HTTP libraries hand out bytes and hide where a chunk began. A recorder needs these borders, and the
size before the chunk is complete, so that a proxy passes bytes on at once and with the same cuts.
Rule 1: a chunk is a transfer chunk; without chunked coding, what one read gave.
Rule 2: a chunk may come in parts; the first one has the length of the chunk.
Rule 3: the trailer section is dropped, extensions of chunks too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from conformance.core.excerpts import clipped

_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")
_LONGEST_LINE: Final = 16 * 1024
_MOST_TRAILER: Final = 64 * 1024
LAST_CHUNK: Final = b"0\r\n\r\n"


class _BrokenCodingError(Exception):
    """The bytes are not chunked coding, or exceed the largest body allowed."""


class ChunkPart(NamedTuple):
    """A part of a chunk. `size` is the whole chunk's where it begins, else None."""

    data: bytes
    size: int | None
    whole: bool


class PlainBodyReader:
    """A body of known length, or one that ends with the connection (`length` None)."""

    def __init__(self, length: int | None) -> None:
        self._left = length
        self.fault = ""
        self.rest = b""

    @property
    def done(self) -> bool:
        """Whether the body is over without the connection's end."""
        return self._left == 0

    @property
    def may_end(self) -> bool:
        return not self._left

    def feed(self, data: bytes) -> list[ChunkPart]:
        """The parts in these bytes; what comes after the body is in `rest`."""
        if self._left is not None:
            data, self.rest = data[: self._left], data[self._left :]
            self._left -= len(data)
        return [ChunkPart(data, len(data), whole=True)] if data else []


class ChunkedBodyReader:
    """The chunked coding; with `open_chunk` from the line end of a chunk on."""

    def __init__(self, *, open_chunk: bool = False) -> None:
        self._held = b""
        self._left = 0  # bytes of the open chunk that are still to come
        self._open = open_chunk
        self._begins: int | None = None
        self._trailing: int | None = None
        self.begun = open_chunk  # whether a chunk's size was read
        self.done = False
        self.fault = ""
        self.rest = b""

    @property
    def may_end(self) -> bool:
        return self.done

    def feed(self, data: bytes) -> list[ChunkPart]:
        """The parts in these bytes; where they break the coding, those before and `fault`."""
        parts: list[ChunkPart] = []
        try:
            self._read_parts(self._held + data if self._held else data, parts)
        except _BrokenCodingError as err:
            self.fault = str(err)
        return parts

    def _read_parts(self, data: bytes, parts: list[ChunkPart]) -> None:
        at = 0
        while not (self.done or self.fault):
            if not self._open:
                line = data.find(b"\n", at)
                if line < 0:
                    break
                self._read_line(data[at:line].removesuffix(b"\r"))
                at = line + 1
                continue
            part, at = self._next_part(data, at)
            if part is None:
                break
            parts.append(part)
        self._held = data[at:]
        if self.done:
            self.rest, self._held = self._held, b""
        elif not self._open and len(self._held) > _LONGEST_LINE:
            raise _BrokenCodingError("the line of a chunk's size does not end")

    def _next_part(self, data: bytes, at: int) -> tuple[ChunkPart | None, int]:
        """The bytes received of the open chunk. It is complete once its CRLF has come."""
        stop = min(at + self._left, len(data))
        after = self._end_of_chunk(data, stop) if stop - at == self._left else None
        if after is None and stop == at:
            return None, at
        part = ChunkPart(data[at:stop], self._begins, whole=after is not None)
        self._begins = None
        self._left -= stop - at
        self._open = after is None
        return part, stop if after is None else after

    def _end_of_chunk(self, data: bytes, stop: int) -> int | None:
        """The place after the chunk's line end; None if that has not come yet."""
        end = data[stop : stop + 2]
        if end == b"\r\n":
            return stop + 2
        if end[:1] == b"\n":
            return stop + 1
        if end in (b"", b"\r"):
            return None
        self.fault = "a chunk is longer than its size"
        return stop

    def _read_line(self, line: bytes) -> None:
        if self._trailing is not None:
            self._trailing += len(line)
            if self._trailing > _MOST_TRAILER:
                raise _BrokenCodingError("the trailer section is too long")
            self.done = not line
            return
        match = _SIZE.fullmatch(line)
        if match is None:
            shown = clipped(line.decode("latin-1"), 40)
            raise _BrokenCodingError(f"expected the size of a chunk, got {shown!r}")
        self.begun = True
        self._left = self._begins = int(match[1], 16)
        self._open = self._left > 0
        self._trailing = None if self._open else 0


def chunk_bytes(data: bytes) -> bytes:
    """One whole transfer chunk; `data` is not empty, for an empty chunk ends the body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def part_bytes(parts: Iterable[ChunkPart]) -> bytes:
    """Parts of chunks, cut as they came: a size goes out before its chunk is whole."""
    out = []
    for part in parts:
        if part.size is not None:
            out.append(b"%x\r\n" % part.size)
        out.append(part.data)
        if part.whole:
            out.append(b"\r\n")
    return b"".join(out)
