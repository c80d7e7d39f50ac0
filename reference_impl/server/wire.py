"""The output: one value per server-sent event or line, and its bytes.

A projection makes `Wire` values; nothing but this module knows how they are framed.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final
from zlib import crc32

import msgspec

DONE: Final = "[DONE]"


class Wire(msgspec.Struct, frozen=True, gc=False):
    """One event. `data` is its payload, or `[DONE]`; `event` its event line, empty for none."""

    data: Mapping[str, Any] | str
    event: str = ""


_encoder: Final = msgspec.json.Encoder()


def encoded(value: Any) -> bytes:
    return _encoder.encode(value)


def framed(wire: Wire, *, with_lines: bool = True) -> bytes:
    """The bytes of one server-sent event, its blank line included.

    Without lines its payload alone says what event it is.
    """
    data = wire.data.encode() if isinstance(wire.data, str) else _encoder.encode(wire.data)
    if wire.event and with_lines:
        return b"event: %b\ndata: %b\n\n" % (wire.event.encode(), data)
    return b"data: %b\n\n" % data


def boxed(wire: Wire) -> bytes:
    """The payload as a message of an AWS event stream: lengths, headers and two checksums.

    https://smithy.io/2.0/aws/amazon-eventstream.html
    """
    kind = "exception" if wire.event.endswith("Exception") else "event"
    headers = (
        (f":{kind}-type", wire.event),
        (":content-type", "application/json"),
        (":message-type", kind),
    )
    named = b"".join(_text_header(name.encode(), value.encode()) for name, value in headers)
    data = encoded(wire.data)
    prelude = struct.pack(">II", 16 + len(named) + len(data), len(named))
    whole = prelude + struct.pack(">I", crc32(prelude)) + named + data
    return whole + struct.pack(">I", crc32(whole))


def _text_header(name: bytes, value: bytes) -> bytes:
    """A header of text: its type is 7."""
    return struct.pack(">B", len(name)) + name + struct.pack(">BH", 7, len(value)) + value


def lined(wire: Wire) -> bytes:
    return b"%b\n" % encoded(wire.data)


def element(wire: Wire | None, *, is_first: bool) -> bytes:
    """The payload as an element of an array, with what stands before it; None: the array's end."""
    if wire is None:
        return b"[]" if is_first else b"]"
    return (b"[%b" if is_first else b",\r\n%b") % encoded(wire.data)
