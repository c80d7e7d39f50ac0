"""Takes compression off a body as it arrives; a bomb ends at the limit, not in memory."""

from __future__ import annotations

import zlib
from typing import Any, Final

_PLAIN: Final = frozenset({"", "identity"})
_ZLIB: Final = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS  # the head tells which


class UndecodableError(Exception):
    """The body cannot be decoded."""


class Decoder:
    """Decodes `content-encoding` up to `most` bytes in all; then `is_full`.

    We ask for no encoding; a server that sends one all the same is read if it can be.
    """

    def __init__(self, encoding: str, most: int) -> None:
        self._encoding = encoding.strip().lower()
        self._most = most
        self._size = 0
        self._inflate: Any = None

    @property
    def is_full(self) -> bool:
        return self._size >= self._most

    def feed(self, raw: bytes) -> bytes:
        """The bytes that came out. Raises UndecodableError."""
        left = self._most - self._size
        data = raw[:left] if self._encoding in _PLAIN else self._inflated(raw, left)
        self._size += len(data)
        return data

    def _inflated(self, raw: bytes, left: int) -> bytes:
        if self._encoding not in _ZLIB:
            raise UndecodableError(f"content-encoding {self._encoding!r}, which nobody asked for")
        out: list[bytes] = []
        try:
            while raw and left > 0:
                raw, piece = self._member(raw, left)
                out.append(piece)
                left -= len(piece)
        except zlib.error as err:
            raise UndecodableError(f"the body is no {self._encoding}: {err}") from err
        return b"".join(out)

    def _member(self, raw: bytes, left: int) -> tuple[bytes, bytes]:
        """What is left behind the end of a member, and what came out of it."""
        if self._inflate is None or self._inflate.eof:  # members may follow each other
            self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
        piece = self._inflate.decompress(raw, left)
        return self._inflate.unused_data, piece
