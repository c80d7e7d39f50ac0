"""Frames: the pieces into which the bytes of a stream fall, whatever their framing.

Server-sent events, as the standard says:
https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation

Rule 1: lines end at CR LF, LF or CR and nowhere else. A CR ends its line at once; an LF that
follows, in whatever chunk, belongs to it.
Rule 2: one leading byte order mark is dropped. What is not UTF-8 becomes U+FFFD.
Rule 3: a blank line dispatches the event if a `data` field came; an event that the end of the
stream tears is dropped.
Rule 4: events depend on the bytes alone, never on how they were cut. Time is linear.

`id` and `retry` are of no use here: a POST is never sent again.

JSON in pieces, a frame for a line, or for an object of an array:
Rule 5: a line ends at LF; a CR before it belongs to the line end. One leading byte order mark is
dropped, and so is a U+001E in front of a value. What is not UTF-8 becomes U+FFFD.
Rule 6: a blank line is none. A last line without an end counts if it is JSON; else it is torn.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from .payload import decode

MOST_BYTES: Final = 16 * 1024 * 1024
Framing = Literal["events", "lines", "binary"]


class BrokenStream(Exception):  # noqa: N818  # it names what is wrong with the stream
    """The bytes cannot be read any further."""


class TooLong(BrokenStream):
    """One frame is longer than a client wants to hold."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One dispatched event; `name` is `message` where the stream gave none.

    It is `raised` where its framing marks it as an error.
    """

    name: str
    data: str
    raised: bool = False


class FrameReader(ABC):
    """Reads one stream. `most` bounds the bytes of a frame."""

    def __init__(self, *, most: int = MOST_BYTES) -> None:
        self._most = most

    @abstractmethod
    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames that these bytes complete. Raises BrokenStream after those before it."""

    def close(self) -> Iterator[Frame]:
        """Yield the frames that the end of the bytes completes; most often none."""
        yield from ()

    def _check_size(self, size: int, what: str) -> None:
        if size > self._most:
            raise TooLong(f"{what} of the stream is longer than {self._most} bytes")


_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BOM: Final = b"\xef\xbb\xbf"


class SseReader(FrameReader):
    """A frame is what stands between two blank lines."""

    def __init__(self, *, most: int = MOST_BYTES) -> None:
        super().__init__(most=most)
        self._started = False
        self._after_cr = False
        self._line = bytearray()
        self._data: list[str] = []
        self._name = ""
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        chunk = self._begin_message(chunk)
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        # An empty chunk says nothing: the LF may still come.
        self._after_cr = chunk.endswith(b"\r") if chunk else self._after_cr
        start = 0
        for end in _LINE_END.finditer(chunk):
            self._line += chunk[start : end.start()]
            yield from self._taken_frames()
            start = end.end()
        self._line += chunk[start:]
        self._check_size(self._size + len(self._line), "an event")

    def _begin_message(self, chunk: bytes) -> bytes:
        """Drop the byte order mark; hold the bytes back while they may be part of one."""
        if self._started:
            return chunk
        chunk = bytes(self._line) + chunk
        self._line.clear()
        if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
            self._line += chunk
            return b""
        self._started = True
        return chunk.removeprefix(_BOM)

    def _taken_frames(self) -> Iterator[Frame]:
        """Process the line that has just ended; the event that it dispatches."""
        line = bytes(self._line)
        self._line.clear()
        self._size += len(line)
        self._check_size(self._size, "an event")
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            if self._data:
                yield Frame(self._name or "message", "\n".join(self._data))
            self._data, self._name, self._size = [], "", 0
        elif field == b"data":
            self._data.append(value.decode("utf-8", "replace"))
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")


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
            self._check_size(len(self._line), "a line")
            yield from self._taken_frames()
        self._line += rest
        self._check_size(len(self._line), "a line")

    def close(self) -> Iterator[Frame]:
        """The last line, where only its end is missing."""
        yield from (frame for frame in self._taken_frames() if decode(frame.data) is not None)

    def _taken_frames(self) -> Iterator[Frame]:
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
                    self._drop_bytes(found.start())
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth == _ELEMENT:
                    yield Frame("message", self._element[: self._at].decode("utf-8", "replace"))
                    self._drop_bytes(self._at)
        # A backslash at the end has its character in the next chunk.
        self._at = max(self._at, len(self._element))
        self._check_size(len(self._element), "an element")

    def _drop_bytes(self, size: int) -> None:
        del self._element[:size]
        self._at -= size
