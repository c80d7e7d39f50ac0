"""Server-sent events: bytes in, events out, as the standard says.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation

Rule 1: lines end at CR LF, LF or CR and nowhere else. A CR ends its line at once; an LF that
follows, in whatever chunk, belongs to it.
Rule 2: one leading byte order mark is dropped. What is not UTF-8 becomes U+FFFD.
Rule 3: a blank line dispatches the event if a `data` field came; an event that the end of the
stream tears is dropped.
Rule 4: events depend on the bytes alone, never on how they were cut. Time is linear.

`id` and `retry` are of no use here: a POST is never sent again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .frame import MOST_BYTES, Frame, FrameReader

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
        chunk = self._begin(chunk)
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        # An empty chunk says nothing: the LF may still come.
        self._after_cr = chunk.endswith(b"\r") if chunk else self._after_cr
        start = 0
        for end in _LINE_END.finditer(chunk):
            self._line += chunk[start : end.start()]
            yield from self._taken()
            start = end.end()
        self._line += chunk[start:]
        self._bound(self._size + len(self._line), "an event")

    def _begin(self, chunk: bytes) -> bytes:
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

    def _taken(self) -> Iterator[Frame]:
        """Process the line that has just ended; the event that it dispatches."""
        line = bytes(self._line)
        self._line.clear()
        self._size += len(line)
        self._bound(self._size, "an event")
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
