"""A JSON array that grows: bytes in, one frame an object out, as soon as it is whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .frame import Frame, TooLong

MOST_ELEMENT_BYTES: Final = 16 * 1024 * 1024
_OUTSIDE: Final = re.compile(rb'["{}\[\]]')
_INSIDE: Final = re.compile(rb'["\\]')
_ELEMENT: Final = 1  # how deep the elements stand


class ElementReader:
    """Reads one array. `most` bounds the bytes of an element. Time is linear."""

    def __init__(self, *, most: int = MOST_ELEMENT_BYTES) -> None:
        self._most = most
        self._element = bytearray()
        self._at = 0  # up to where the element was looked at
        self._depth = 0
        self._is_text = False

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The objects that these bytes complete. Raises TooLong after those before it."""
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
        if len(self._element) > self._most:
            raise TooLong(f"an element of the stream is longer than {self._most} bytes")

    def close(self) -> Iterator[Frame]:
        """Nothing: a torn element says nothing."""
        yield from ()

    def _drop(self, size: int) -> None:
        del self._element[:size]
        self._at -= size
