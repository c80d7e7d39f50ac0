"""Plain text with markers: bytes in, frames out, as a model server sends raw token text.

Rule 1: a marker is `<|`, a word of at most 32 characters, and `|>`. It is a frame by itself.
Rule 2: the text between markers is split into frames after each line end; a line of more than
64 KiB is cut there, between two characters.
Rule 3: bytes that are not UTF-8 become U+FFFD; a character cut by the end of the stream is dropped.
Rule 4: frames depend on the bytes alone, never on how they were cut into chunks.
Rule 5: time is linear in the bytes; memory is a small multiple of a frame or chunk.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Final

from conformance.core.events import Frame

_BREAK: Final = re.compile(rb"\n|<\|\w{1,32}\|>")
_LONGEST_MARKER: Final = 36
MOST_PIECE_BYTES: Final = 64 * 1024
MARKER_BEGINNING: Final = b"<|"
_DECODER: Final = getincrementaldecoder("utf-8")


class TextParser:
    """Parses one stream of text, incrementally and without I/O. Input is never refused."""

    def __init__(self) -> None:
        self._rest = bytearray()  # what has not become frames yet
        self._offset = 0  # where it begins
        self._searched = 0  # up to here it holds no break

    def feed(self, data: bytes) -> list[Frame]:
        self._rest += data
        frames: list[Frame] = []
        at = 0
        while match := _BREAK.search(self._rest, self._searched):
            is_line = match[0] == b"\n"
            frames += self._pieces(at, match.end() if is_line else match.start())
            if not is_line:
                frames.append(self._frame(*match.span()))
            at = self._searched = match.end()
        # After this much text no marker can begin inside the piece that is cut off.
        while len(self._rest) - at > MOST_PIECE_BYTES + _LONGEST_MARKER:
            stop = self._cut(at, len(self._rest))
            frames.append(self._frame(at, stop))
            at = stop
        self._searched = max(at, len(self._rest) - _LONGEST_MARKER) - at
        del self._rest[:at]
        self._offset += at
        return frames

    def close(self) -> list[Frame]:
        """The text that no break has ended. A second call yields none."""
        frames = list(self._pieces(0, len(self._rest)))
        self._offset += len(self._rest)
        self._rest.clear()
        return [frame for frame in frames if frame.data]

    def _pieces(self, start: int, stop: int) -> Iterator[Frame]:
        """The text between two places, cut by rule 2."""
        while start < stop:
            end = self._cut(start, stop)
            yield self._frame(start, end)
            start = end

    def _cut(self, start: int, stop: int) -> int:
        """Where a piece ends that begins at `start`: before a character, not inside one."""
        if stop - start <= MOST_PIECE_BYTES:
            return stop
        end = start + MOST_PIECE_BYTES
        for _ in range(3):
            if self._rest[end] & 0xC0 == 0x80:
                end -= 1
        return end

    def _frame(self, start: int, stop: int) -> Frame:
        text = _DECODER("replace").decode(bytes(self._rest[start:stop]))
        return Frame("text", "message", text, "", self._offset + start)
