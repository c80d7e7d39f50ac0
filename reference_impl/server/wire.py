"""What goes out: one value per server-sent event or line, and its bytes.

A projection makes `Wire` values; nothing but this module knows how they are framed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

DONE: Final = "[DONE]"


class Wire(msgspec.Struct, frozen=True, gc=False):
    """One event. `data` is its payload, or `[DONE]`; `event` its event line, empty for none."""

    data: Mapping[str, Any] | str
    event: str = ""


_encoder: Final = msgspec.json.Encoder()


def encoded(value: Any) -> bytes:
    """JSON on one line, in UTF-8."""
    return _encoder.encode(value)


def framed(wire: Wire, *, with_lines: bool = True) -> bytes:
    """The bytes of one server-sent event, its blank line included.

    Without lines its payload alone says what event it is.
    """
    data = wire.data.encode() if isinstance(wire.data, str) else _encoder.encode(wire.data)
    if wire.event and with_lines:
        return b"event: %b\ndata: %b\n\n" % (wire.event.encode(), data)
    return b"data: %b\n\n" % data


def lined(wire: Wire) -> bytes:
    """The payload as one line of JSON."""
    return b"%b\n" % encoded(wire.data)


def element(wire: Wire | None, *, is_first: bool) -> bytes:
    """The payload as an element of an array, with what stands before it; None: the array's end."""
    if wire is None:
        return b"[]" if is_first else b"]"
    return (b"[%b" if is_first else b",\r\n%b") % encoded(wire.data)
