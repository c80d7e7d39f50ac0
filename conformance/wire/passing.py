"""Passes a body through with its framing on the wire, up to its end.

The bytes are not split. The code jumps from chunk size to chunk size, and leaves anything unusual
(an extension, a bare LF, a fault) to `ChunkedBodyReader` from there on.
Rule 1: the last chunk and the trailer section are not passed on; the sender adds its own end.
Rule 2: bytes are passed on at once, except an incomplete size or line end.
"""

from __future__ import annotations

import re
from typing import Final

from conformance.core.chunked import ChunkedBodyReader, PlainBodyReader, part_bytes

_SIZE: Final = re.compile(rb"\r\n([1-9A-Fa-f][0-9A-Fa-f]{0,14})\r\n")
_UNFINISHED: Final = re.compile(rb"\r(?:\n(?:[0-9A-Fa-f]{1,15}\r?)?)?")
_MOST_STEPS: Final = 4096
_LINE_END: Final = b"\r\n"


class PlainBodyPasser:
    """A body of known length, or one that ends with the connection (`length` None)."""

    def __init__(self, length: int | None) -> None:
        self._reader = PlainBodyReader(length)
        self.fault = ""

    @property
    def done(self) -> bool:
        """Whether the body is over without the connection's end."""
        return self._reader.done

    @property
    def may_end(self) -> bool:
        return self._reader.may_end

    @property
    def rest(self) -> bytes:
        return self._reader.rest

    def feed(self, data: bytes) -> bytes:
        """The part of these bytes to pass on."""
        parts = self._reader.feed(data)
        return parts[0].data if parts else b""


class ChunkedBodyPasser:
    """The chunked coding."""

    def __init__(self) -> None:
        self._held = _LINE_END  # as if a chunk had ended: each size is between two line ends
        self._sent = len(_LINE_END)  # bytes of those held that were passed on
        self._ahead = 0  # bytes of the open chunk's data that are still to come
        self._steps: dict[bytes, int] = {}
        self._careful: ChunkedBodyReader | None = None

    @property
    def done(self) -> bool:
        return self._careful is not None and self._careful.done

    @property
    def may_end(self) -> bool:
        return self.done

    @property
    def fault(self) -> str:
        return self._careful.fault if self._careful else ""

    @property
    def rest(self) -> bytes:
        return self._careful.rest if self._careful else b""

    def feed(self, data: bytes) -> bytes:
        """The part of these bytes to pass on; if they break the coding, `fault` is set."""
        if self._careful is not None:
            return part_bytes(self._careful.feed(data))
        if self._held:
            data, self._held = self._held + data, b""
        at, is_plain = self._walk(data)
        sent = self._sent
        if not is_plain:
            self._careful = ChunkedBodyReader(open_chunk=True)
            passed = data[:at] + part_bytes(self._careful.feed(data[at:]))
        elif at < len(data):
            self._held = data[at:]
            self._sent = len(_LINE_END) if self._held.startswith(_LINE_END) else 0
            return data[sent : at + self._sent]
        else:
            passed = data
        self._sent = 0
        return passed[sent:] if sent else passed

    def _walk(self, data: bytes) -> tuple[int, bool]:
        """How far the bytes may be passed on, and whether the rest is plain."""
        at, size, known = self._ahead, len(data), self._steps.get
        while at < size:
            # Most chunks have 16 to 4,095 bytes: their sizes are spelled in two or three digits.
            step = known(data[at : at + 6]) or known(data[at : at + 7])
            if not step:
                found = _SIZE.match(data, at)
                if found is None:
                    self._ahead = 0
                    return at, _UNFINISHED.fullmatch(data, at) is not None
                step = self._learn_step(found)
            at += step
        self._ahead = at - size
        return size, True

    def _learn_step(self, found: re.Match[bytes]) -> int:
        """How far it is from the line end of a chunk to that of the next."""
        step = len(found[0]) + int(found[1], 16)
        if len(self._steps) < _MOST_STEPS:
            self._steps[found[0]] = step
        return step
