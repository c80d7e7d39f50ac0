"""How recorders spell bytes: each coding by its name.

Raises ValueError where a body is not what its coding says.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from conformance.core.json_values import decode_json

_MARK: Final = "base64:"


def decode(value: Any, coding: str) -> bytes:
    """The bytes of a body. Raises ValueError."""
    return CODINGS[coding](value)


def _decode_text(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, dict | list):
        raise ValueError("expected a text, got a list or an object")  # noqa: TRY004  # of the file
    return str(value).encode("utf-8", "surrogatepass")


def _sse_event(value: Any) -> bytes:
    """A text of lines, without the blank line that ended it."""
    return _decode_text(value) + b"\n\n"


def _decode_json(value: Any) -> bytes:
    """A text, or a value of JSON that the recorder had read."""
    return _decode_text(value) if isinstance(value, str | bytes) else msgspec.json.encode(value)


def _json_of_r(value: Any) -> bytes:
    """What R made of JSON: nulls became empty objects."""
    return msgspec.json.encode(_with_nulls(value))


def _with_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_nulls(each) for key, each in value.items()} or None
    return list(map(_with_nulls, value)) if isinstance(value, list) else value


def _text_lines(value: Any) -> bytes:
    """The lines of a text, each with its end; else as `json`."""
    is_text = isinstance(value, list) and value and all(isinstance(e, str) for e in value)
    return _decode_text("".join(value)) if is_text else _decode_json(value)


def _misread_text(value: Any) -> bytes:
    """Some programs take UTF-8 without a charset for Latin-1: then what the text was made of."""
    try:
        data = value.encode("latin-1") if isinstance(value, str) else b"\xff"
        data.decode()
    except UnicodeError:
        return _decode_text(value)
    return bytes(data)


def _decode_base64(value: Any) -> bytes:
    pieces = ("".join(each.split()) for each in _text_pieces(value, "base64"))
    return b"".join(base64.b64decode(each, validate=True) for each in pieces)


def _decode_marked(value: Any) -> bytes:
    """Text, unless it says `base64:`."""
    is_marked = isinstance(value, str) and value.startswith(_MARK)
    return _decode_base64(value[len(_MARK) :]) if is_marked else _decode_text(value)


def _decode_hex(value: Any) -> bytes:
    return b"".join(map(bytes.fromhex, _text_pieces(value, "hex digits")))


def _hex_pieces(value: Any) -> bytes:
    """A list of pieces in hex, as they came; else as `json`."""
    is_spelled = isinstance(value, list) and value and all(isinstance(e, str) for e in value)
    return _decode_hex(value) if is_spelled and all(map(_is_hex, value)) else _decode_json(value)


def _text_pieces(value: Any, expected: str) -> list[str]:
    """One text, or the pieces of one: in a list, or in a text that is a list of JSON."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = decode_json(value)
    pieces = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str) for each in pieces):
        raise ValueError(f"expected {expected}, got no text")
    return pieces


def _is_hex(text: str) -> bool:
    try:
        bytes.fromhex(text)
    except ValueError:
        return False
    return True


CODINGS: Final[Mapping[str, Callable[[Any], bytes]]] = {
    "text": _decode_text,
    "sse-event": _sse_event,
    "json": _decode_json,
    "json-of-r": _json_of_r,
    "text-lines": _text_lines,
    "misread-text": _misread_text,
    "base64": _decode_base64,
    "marked": _decode_marked,
    "hex": _decode_hex,
    "hex-pieces": _hex_pieces,
}
EXACT: Final = frozenset({"base64", "hex"})
"""Codings that keep every byte; texts are what a recorder made of them."""
