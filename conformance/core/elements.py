"""A JSON array that grows: bytes in, one frame an element out, each as soon as it is whole.

Rule 1: the array begins at the first `[` after an optional BOM and white space; commas and white
space between elements belong to none of them. Line ends have no meaning.
Rule 2: an object or array is complete at its last bracket, any other value at the comma or bracket
after it. The reader decides whether an element is JSON.
Rule 3: what a client cannot use is reported as `lines.py` does it, in frames of kind
`ignored-element`: `bad-utf8` before the element itself; `unfinished` where the stream ends inside
an element or before the array is closed; without data `after-end`, once, for what follows the
array, and `too-long` for an element past `max_element_bytes`, which is skipped unseen.
Rule 4: frames depend on the bytes alone, never on how they were cut into chunks.
Rule 5: time is linear in the bytes; memory is a small multiple of the longest element or chunk.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from conformance.core.errors import HarnessError
from conformance.core.events import Frame

_STRUCTURE: Final = re.compile(rb'["\[\]{},]')
_STRING_END: Final = re.compile(rb'["\\]')
_OPENING: Final = (b"[", b"{")
_WHITE: Final = b" \t\r\n"


class ElementParser:
    """Parses one array, incrementally and without I/O. Input is never refused."""

    def __init__(self, *, max_element_bytes: int = 64 * 1024 * 1024) -> None:
        self._max = max_element_bytes
        self._closed = False
        self._state: Literal["before", "inside", "after", "reported"] = "before"
        self._depth = 0  # of the next byte below the array; 0: between elements
        self._in_string = False
        self._held = bytearray()  # of the element that is not whole yet
        self._scanned = 0  # bytes of it that were looked at
        self._offset = 0  # where it begins
        self._is_skipped = False
        self._is_nested = False  # the last mark closed a value, and not the array

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that these bytes complete. Raises HarnessError after `close`."""
        if self._closed:
            raise HarnessError("a parser of elements was fed after close")
        frames: list[Frame] = []
        self._held += data
        if self._state == "before":
            self._open_array()
        begin = 0
        while self._state == "inside" and (end := self._next_end()):
            self._end_element(begin, end, frames)
            begin = end
        self._drop(begin)
        if self._state == "inside" and len(self._held) > self._max:
            self._skip_element(frames)
        if self._state in ("after", "reported"):
            self._report_rest(frames)
        return frames

    def close(self) -> list[Frame]:
        """End the stream: an array that was not closed is reported. A second call yields none."""
        if self._closed or self._state in ("after", "reported"):
            self._closed = True
            return []
        self._closed = True
        text = _decoded_text(bytes(self._held).strip(_WHITE))
        return [Frame("ignored-element", "unfinished", text, "", self._offset)]

    def _open_array(self) -> None:
        at = self._held.find(b"[")
        if at >= 0:
            self._state = "inside"
        self._drop(at + 1 or len(self._held))

    def _next_end(self) -> int:
        """The position after the mark that ends the current element; 0 if it has not come yet."""
        while found := (_STRING_END if self._in_string else _STRUCTURE).search(
            self._held, self._scanned
        ):
            mark, self._scanned = found[0], found.end()
            if mark == b"\\":
                if self._scanned == len(self._held):  # what it escapes is still to come
                    self._scanned -= 1
                    return 0
                self._scanned += 1
            elif mark == b'"':
                self._in_string = not self._in_string
            elif mark in _OPENING:
                self._depth += 1
            elif mark == b"," or not self._depth:
                self._is_nested = False
                if not self._depth:
                    return self._scanned
            else:
                self._depth -= 1
                self._is_nested = True
                if not self._depth:
                    return self._scanned
        self._scanned = len(self._held)
        return 0

    def _end_element(self, begin: int, end: int, frames: list[Frame]) -> None:
        """Emits the element that ends here, if there is one: two marks may follow each other.

        The mark (a comma, or the bracket that closes the array) is not part of the element.
        """
        raw = bytes(self._held[begin : end if self._is_nested else end - 1])
        element = raw.strip(_WHITE)
        if element and not self._is_skipped:
            _add_frame(element, self._offset + begin + raw.index(element[:1]), frames)
        self._is_skipped = False
        if not self._is_nested and self._held[end - 1 : end] == b"]":
            self._state = "after"

    def _skip_element(self, frames: list[Frame]) -> None:
        if not self._is_skipped:
            frames.append(Frame("ignored-element", "too-long", "", "", self._offset))
        self._is_skipped = True
        self._drop(self._scanned)

    def _report_rest(self, frames: list[Frame]) -> None:
        more = bytes(self._held).lstrip(_WHITE)
        if more and self._state == "after":
            at = self._offset + len(self._held) - len(more)
            frames.append(Frame("ignored-element", "after-end", "", "", at))
            self._state = "reported"
        self._drop(len(self._held))

    def _drop(self, size: int) -> None:
        del self._held[:size]
        self._offset += size
        self._scanned = max(0, self._scanned - size)


def _add_frame(element: bytes, offset: int, frames: list[Frame]) -> None:
    try:
        text = element.decode()
    except UnicodeDecodeError:
        text = _decoded_text(element)
        frames.append(Frame("ignored-element", "bad-utf8", text, "", offset))
    frames.append(Frame("element", "message", text, "", offset))


def _decoded_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
