"""Typed netstrings (https://tnetstrings.info), as mitmproxy writes flows.

`5:hello,` is bytes, `5:hello;` text, `2:42#` a whole number, `3:1.5^` a float, `4:true!`, `0:~`
nothing; `]` and `}` hold values one after the other. Sizes, depth and the number of values are
bounded, and nothing is read beyond the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

_SIZE: Final = re.compile(rb"(\d{1,10}):")
_MOST_DEPTH: Final = 64
_MOST_VALUES: Final = 1_000_000
_LONGEST_NUMBER: Final = 40
_WORDS: Final = {b"true": True, b"false": False}


class BrokenNetstringError(ValueError):
    """Bytes that are not a typed netstring; `at` is the position of the fault."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(f"{message} at byte {at}")
        self.at = at


def read_netstrings(data: bytes) -> Iterator[tuple[int, Any]]:
    """Every value with the byte at which it begins. Raises BrokenNetstringError."""
    reader = _NetstringReader(data)
    at = 0
    while at < len(data):
        value, after = reader.value_at(at, len(data), 0)
        yield at, value
        at = after


class _NetstringReader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._left = _MOST_VALUES

    def value_at(self, at: int, end: int, depth: int) -> tuple[Any, int]:
        """The value that begins at a position, and the position after it."""
        size = _SIZE.match(self._data, at, end)
        if size is None:
            raise BrokenNetstringError("expected a size", at)
        start = size.end()
        stop = start + int(size[1])
        if stop >= end:
            raise BrokenNetstringError(
                f"expected {size[1].decode()} bytes and a type, got fewer", at
            )
        self._left -= 1
        if self._left < 0:
            raise BrokenNetstringError(f"more than {_MOST_VALUES:,} values", at)
        kind = self._data[stop : stop + 1]
        if kind in (b"]", b"}"):
            return self._held_values(start, stop, depth + 1, kind), stop + 1
        return self._leaf(kind, self._data[start:stop], stop), stop + 1

    def _held_values(self, at: int, end: int, depth: int, kind: bytes) -> Any:
        if depth > _MOST_DEPTH:
            raise BrokenNetstringError(f"nested more than {_MOST_DEPTH} deep", at)
        begun, found = at, []
        while at < end:
            value, at = self.value_at(at, end, depth)
            found.append(value)
        if kind == b"]":
            return found
        if len(found) % 2 or not all(isinstance(key, str | bytes) for key in found[::2]):
            raise BrokenNetstringError("expected names and values in turn", begun)
        names = (
            key if isinstance(key, str) else key.decode("utf-8", "replace") for key in found[::2]
        )
        return dict(zip(names, found[1::2], strict=True))

    def _leaf(self, kind: bytes, data: bytes, at: int) -> Any:
        if kind == b",":
            return data
        if kind == b";":
            return data.decode("utf-8", "replace")
        if kind == b"~" and not data:
            return None
        if kind == b"!" and data in _WORDS:
            return _WORDS[data]
        if kind in (b"#", b"^") and len(data) <= _LONGEST_NUMBER:
            try:
                return int(data) if kind == b"#" else float(data)
            except ValueError:
                pass
        raise BrokenNetstringError(f"expected a value of type {kind.decode('latin-1')!r}", at)
