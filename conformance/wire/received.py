"""How much of a body is taken: what costs a server little to send costs time and memory to judge.

Rule 1: a body ends at a number of bytes (which `content_coding` keeps), of lines and of chunks,
and where a recording of it could no longer be read. Rule 2: what came before is kept.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from conformance.cassette.source import MAX_BYTES, MAX_LINES
from conformance.wire.faults import BrokenExchange

MOST_CHUNKS: Final = 500_000
MOST_LINES: Final = 1_000_000
_KEPT_FREE: Final = 16 * 1024 * 1024  # for heads, requests and what a run says of itself
MOST_RECORDED: Final = MAX_BYTES - _KEPT_FREE
"""Bytes that all answers of one recording may take in it."""

# A line of a recording counts as so many bytes more: so the bytes bound the lines, too.
_LINE_COST: Final = -(-MAX_BYTES // MAX_LINES)
_SHORT_ESCAPES: Final = b'"\\\n\r\t\b\f'
_LONG_ESCAPES: Final = bytes(set(range(0x20)) - set(_SHORT_ESCAPES)) + b"\x7f"
_BEYOND_ASCII: Final = bytes(range(0x80, 0x100))
_LINE_END: Final = re.compile(rb"\r\n?|\n")
_STRIDE: Final = 1 << 16
_DIVIDED: Final = 6  # bytes of characters that begin or end outside a stride


class ReceivedBody:
    """Counts what comes of one body. `most_bytes` is what it may take of a recording, in bytes."""

    def __init__(self, most_bytes: int = MOST_RECORDED) -> None:
        self.recorded_size = 0
        self._most_bytes = most_bytes
        self._size = self._lines = self._chunks = 0
        self._has_strays = False

    def take(self, data: bytes) -> tuple[bytes, BrokenExchange | None]:
        """The beginning of a chunk that is taken, and how the body ends with it, if it does."""
        self._chunks += 1
        self.recorded_size += _LINE_COST
        for start in range(0, len(data), _STRIDE):
            piece = data[start : start + _STRIDE]
            lines = _line_count(piece)
            recorded = self._recorded_size_of(piece, lines)
            if self._lines + lines >= MOST_LINES:
                end = _end_of_line(piece, MOST_LINES - self._lines)
                self._size += end
                return data[: start + end], _not_ended(f"{MOST_LINES:,} lines")
            if self.recorded_size + recorded > self._most_bytes:
                return data[:start], _not_ended(f"{self._size} bytes")
            self._size += len(piece)
            self._lines += lines
            self.recorded_size += recorded
        full = self._chunks >= MOST_CHUNKS
        return data, _not_ended(f"{MOST_CHUNKS:,} chunks") if full else None

    def _recorded_size_of(self, data: bytes, lines: int) -> int:
        """At least the bytes that these take in a recording: escaped, or as hexadecimal digits."""
        size, strays = len(data), _stray_count(data)
        self._has_strays = self._has_strays or strays > _DIVIDED
        escapes = size - len(data.translate(None, _SHORT_ESCAPES))
        escapes += 5 * (size - len(data.translate(None, _LONG_ESCAPES)))
        if not data.isascii():
            escapes += 2 * (size - len(data.translate(None, _BEYOND_ASCII)))
        longer = max(escapes, size) if self._has_strays else escapes
        return size + longer + (lines + 2 * strays) * _LINE_COST


def _not_ended(after: str) -> BrokenExchange:
    return BrokenExchange("client-closed", f"it had not ended after {after}")


def _line_count(data: bytes) -> int:
    returns = data.count(b"\r")
    return data.count(b"\n") + (returns - data.count(b"\r\n") if returns else 0)


def _end_of_line(data: bytes, number: int) -> int:
    """The byte after line `number`, from 1, which has ended."""
    return next(islice(_LINE_END.finditer(data), number - 1, None)).end()


def _stray_count(data: bytes) -> int:
    """How many bytes are not UTF-8, except for a character that the cut divides."""
    return 0 if data.isascii() else len(data) - len(data.decode("utf-8", "ignore").encode())
