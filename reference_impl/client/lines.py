"""JSON that comes in pieces: bytes in, one frame out for a line, or for an object of an array.

Rule 1: a line ends at LF; a CR before it belongs to the line end. One leading byte order mark is
dropped, and so is a U+001E in front of a value. What is not UTF-8 becomes U+FFFD.
Rule 2: a blank line is none. A last line without an end counts if it is JSON; else it is torn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .frame import MOST_BYTES, Frame, FrameReader
from .payload import decode

_OUTSIDE: Final = re.compile(rb'["{}\[\]]')
_INSIDE: Final = re.compile(rb'["\\]')
_ELEMENT: Final = 1  # how deep the elements stand
_NO_VALUE: Final = " \t\r\n\ufeff\x1e"


class LineReader(FrameReader):
    """A frame is a line."""

    def __init__(self, *, most: int = MOST_BYTES) -> None:
        super().__init__(most=most)
        self._line = bytearray()

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            self._line += line
            self._bound(len(self._line), "a line")
            yield from self._taken()
        self._line += rest
        self._bound(len(self._line), "a line")

    def close(self) -> Iterator[Frame]:
        """The last line, where only its end is missing."""
        yield from (frame for frame in self._taken() if decode(frame.data) is not None)

    def _taken(self) -> Iterator[Frame]:
        text = self._line.decode("utf-8", "replace").strip(_NO_VALUE)
        self._line.clear()
        if text:
            yield Frame("message", text)


class ElementReader(FrameReader):
    """A frame is an object of one array, given as soon as it is whole. Time is linear."""

    def __init__(self, *, most: int = MOST_BYTES) -> None:
        super().__init__(most=most)
        self._element = bytearray()
        self._at = 0  # up to where the element was looked at
        self._depth = 0
        self._is_text = False

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        self._element += chunk
        while found := (_INSIDE if self._is_text else _OUTSIDE).search(self._element, self._at):
            self._at = found.end()
            if self._is_text:
                self._at += found[0] == b"\\"  # what is escaped ends nothing
                self._is_text = found[0] != b'"'
            elif found[0] == b'"':
                self._is_text = True
            elif found[0] in b"{[":
                if self._depth == _ELEMENT:
                    self._drop(found.start())
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth == _ELEMENT:
                    yield Frame("message", self._element[: self._at].decode("utf-8", "replace"))
                    self._drop(self._at)
        # A backslash at the end has its character in the next chunk.
        self._at = max(self._at, len(self._element))
        self._bound(len(self._element), "an element")

    def _drop(self, size: int) -> None:
        del self._element[:size]
        self._at -= size
