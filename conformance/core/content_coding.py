"""Decompresses a body as it arrives; a limit stops a decompression bomb before memory runs out.

gzip and deflate are always read, br and zstd if a library for them is installed. The toolkit never
requests compression itself, but a server may compress anyway.
"""

from __future__ import annotations

import importlib.util
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, Protocol

_PLAIN: Final = frozenset({"", "identity"})
_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS  # the head shows which
_MODULES: Final = {"br": "brotli", "zstd": "zstandard"}
_ZSTD_WINDOW: Final = 8 * 1024 * 1024  # https://www.rfc-editor.org/rfc/rfc9659
_ZSTD_STEP: Final = 64  # bytes at a time: four of them may be a block of 128 KiB

# No text, no JSON and no binary message begins so; brotli has no such sign.
_SIGNS: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
LONGEST_SIGN: Final = 4


def coding_of(first: bytes) -> str:
    """The content coding that a body still has, by its first bytes; empty where none shows."""
    return next((name for sign, name in _SIGNS.items() if first.startswith(sign)), "")


class UndecodableError(Exception):
    """The body cannot be decoded."""


class _BodyUnpacker(Protocol):
    def feed(self, raw: bytes, left: int) -> bytes:
        """What came out: about `left` bytes at the most. Raises `errors`."""

    errors: tuple[type[Exception], ...]


class ContentDecoder:
    """Decodes `content-encoding` up to `most` bytes in all; then `is_full`."""

    def __init__(self, encoding: str, most: int) -> None:
        self._encoding = encoding.strip().lower()
        self._most = most
        self._size = 0
        self._unpacker: _BodyUnpacker | None = None

    @property
    def is_full(self) -> bool:
        return self._size >= self._most

    def feed(self, raw: bytes) -> bytes:
        """The bytes that came out. Raises UndecodableError."""
        left = self._most - self._size
        data = raw[:left] if self._encoding in _PLAIN else self._unpack_bytes(raw, left)[:left]
        self._size += len(data)
        return data

    def _unpack_bytes(self, raw: bytes, left: int) -> bytes:
        if left <= 0:
            return b""
        unpacker = self._unpacker = self._unpacker or _new_unpacker(self._encoding)
        try:
            return unpacker.feed(raw, left)
        except unpacker.errors as err:
            raise UndecodableError(f"the body is no {self._encoding}: {err}") from err


@cache
def readable_codings() -> frozenset[str]:
    """The encodings that can be taken off here."""
    found = (name for name, module in _MODULES.items() if importlib.util.find_spec(module))
    return frozenset({"gzip", "x-gzip", "deflate", *found})


def install_hint(encoding: str) -> str:
    """What to install to read a content coding; empty where nothing would help."""
    module = _MODULES.get(encoding.strip().lower(), "")
    return f"pip install {module}" if module else ""


def _new_unpacker(encoding: str) -> _BodyUnpacker:
    if encoding not in readable_codings():
        missing = install_hint(encoding)
        hint = f" ({missing} to read it)" if missing else ""
        raise UndecodableError(
            f"content-encoding {encoding!r}, which the request does not accept{hint}"
        )
    return _UNPACKERS.get(encoding, _GzipUnpacker)()


class _GzipUnpacker:
    """gzip, deflate: members may follow each other."""

    errors: tuple[type[Exception], ...] = (zlib.error,)

    def __init__(self) -> None:
        self._member: Any = None

    def feed(self, raw: bytes, left: int) -> bytes:
        out = bytearray()
        while raw and len(out) < left:
            if self._member is None or self._member.eof:
                self._member = self._new_member()
            piece, raw = self._unpack_step(raw, left - len(out))
            out += piece
        return bytes(out)

    def _new_member(self) -> Any:
        return zlib.decompressobj(_GZIP_OR_ZLIB)

    def _unpack_step(self, raw: bytes, left: int) -> tuple[bytes, bytes]:
        """The unpacked bytes, and the bytes to unpack next."""
        return self._member.decompress(raw, left), self._member.unused_data


class _BrotliUnpacker:
    """The encoding br, https://www.rfc-editor.org/rfc/rfc7932."""

    def __init__(self) -> None:
        import brotli  # noqa: PLC0415  # an extra

        self._body = brotli.Decompressor()
        self.errors: tuple[type[Exception], ...] = (brotli.error,)

    def feed(self, raw: bytes, left: int) -> bytes:
        out = bytearray(self._body.process(raw, output_buffer_limit=left))
        while len(out) < left and not self._body.can_accept_more_data():
            out += self._body.process(b"", output_buffer_limit=left - len(out))
        return bytes(out)


class _ZstdUnpacker(_GzipUnpacker):
    """The encoding zstd, https://www.rfc-editor.org/rfc/rfc8878; frames may follow each other."""

    def __init__(self) -> None:
        import zstandard  # noqa: PLC0415  # an extra

        super().__init__()
        self._frames = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self.errors = (zstandard.ZstdError,)

    def _new_member(self) -> Any:
        return self._frames.decompressobj()

    def _unpack_step(self, raw: bytes, left: int) -> tuple[bytes, bytes]:
        del left  # zstandard takes no bound: the step is one
        piece = self._member.decompress(raw[:_ZSTD_STEP])
        return piece, self._member.unused_data + raw[_ZSTD_STEP:]


_UNPACKERS: Final[Mapping[str, Callable[[], _BodyUnpacker]]] = {
    "br": _BrotliUnpacker,
    "zstd": _ZstdUnpacker,
}
