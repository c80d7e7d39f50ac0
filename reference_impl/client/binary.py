"""Messages of an AWS event stream: bytes in, one frame a message out.

https://smithy.io/2.0/aws/amazon-eventstream.html, all numbers big-endian:

    4  length of the whole message    4  CRC-32 of these two
    4  length of its headers             headers, payload
                                      4  CRC-32 of everything before it

Rule 1: the name of a frame is what its `:event-type`, `:exception-type` or `:error-code` says; a
frame is raised where its `:message-type` is not `event`.
Rule 2: a wrong checksum, lengths that do not fit and broken headers end the stream: a client that
went on would show an answer with a hole.
Rule 3: a message that was cut says nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Final
from zlib import crc32

from .frame import MOST_BYTES, BrokenStream, Frame, FrameReader

_PRELUDE: Final = struct.Struct(">III")
_CHECKSUM: Final = struct.Struct(">I")
_TEXT: Final = 7
# Types of headers -> bytes of their values; the others state how long they are.
_SIZES: Final[Mapping[int, int]] = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_STATED: Final = (6, _TEXT)
_NAMES: Final = (":event-type", ":exception-type", ":error-code")


class MessageReader(FrameReader):
    """A frame is a message."""

    def __init__(self, *, most: int = MOST_BYTES) -> None:
        super().__init__(most=most)
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        self._rest += chunk
        start = 0
        try:
            while length := self._length(start):
                message = bytes(self._rest[start : start + length])
                start += length
                yield _frame_of_message(message)
        finally:
            del self._rest[:start]

    def _length(self, start: int) -> int:
        """The length of the message that begins there; 0 while it is not whole."""
        if len(self._rest) - start < _PRELUDE.size:
            return 0
        length, headers, checksum = _PRELUDE.unpack_from(self._rest, start)
        if crc32(self._rest[start : start + 8]) != checksum:
            raise BrokenStream("the checksum of a message's lengths is wrong")
        if length < _PRELUDE.size + headers + _CHECKSUM.size:
            raise BrokenStream("a message of the stream is shorter than its headers")
        self._check_size(length, "a message")
        return int(length) if len(self._rest) - start >= length else 0


def _frame_of_message(message: bytes) -> Frame:
    if crc32(message[:-4]) != _CHECKSUM.unpack(message[-4:])[0]:
        raise BrokenStream("the checksum of a message is wrong")
    stop = _PRELUDE.size + int(_PRELUDE.unpack_from(message)[1])
    try:
        headers = dict(_text_headers(message[_PRELUDE.size : stop]))
    except (IndexError, KeyError, UnicodeDecodeError, struct.error) as fault:
        raise BrokenStream("the headers of a message are broken") from fault
    name = next((headers[each] for each in _NAMES if each in headers), "message")
    raised = headers.get(":message-type", "event") != "event"
    return Frame(name, message[stop:-4].decode("utf-8", "replace"), raised)


def _text_headers(raw: bytes) -> Iterator[tuple[str, str]]:
    """Names and values of the headers that are texts."""
    at = 0
    while at < len(raw):
        named = at + 1 + raw[at]
        kind, start = raw[named], named + 1
        if kind in _STATED:
            start += 2
            stop = start + int(struct.unpack_from(">H", raw, start - 2)[0])
        else:
            stop = start + _SIZES[kind]
        if stop > len(raw):
            raise IndexError
        if kind == _TEXT:
            texts = (raw[at + 1 : named], raw[start:stop])
            name, value = (text.decode() for text in texts)
            yield name, value
        at = stop
