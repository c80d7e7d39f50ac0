"""Lines of JSON: bytes in, one frame a line out.

Rule 1: a line ends at LF; a CR before it belongs to the line end. One leading byte order mark is
dropped, and so is a U+001E in front of a value. What is not UTF-8 becomes U+FFFD.
Rule 2: a blank line is none. A last line without an end counts if it is JSON; else it is torn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .frame import Frame, TooLong
from .payload import decode

MOST_LINE_BYTES: Final = 16 * 1024 * 1024
_NO_VALUE: Final = " \t\r\n\ufeff\x1e"


class LineReader:
    """Reads one stream. `most` bounds the bytes of a line."""

    def __init__(self, *, most: int = MOST_LINE_BYTES) -> None:
        self._most = most
        self._line = bytearray()

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The lines that these bytes complete. Raises TooLong after those before it."""
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            self._line += line
            self._bound()
            yield from self._taken()
        self._line += rest
        self._bound()

    def close(self) -> Iterator[Frame]:
        """The last line, where only its end is missing."""
        yield from (frame for frame in self._taken() if decode(frame.data) is not None)

    def _taken(self) -> Iterator[Frame]:
        text = self._line.decode("utf-8", "replace").strip(_NO_VALUE)
        self._line.clear()
        if text:
            yield Frame("message", text)

    def _bound(self) -> None:
        if len(self._line) > self._most:
            raise TooLong(f"a line of the stream is longer than {self._most} bytes")
