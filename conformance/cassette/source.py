"""Files and pipes of any compression, read as bytes within bounds.

Compression is known by the first bytes; a name in `.gz` or `.zst` promises it. A recording may come
from anywhere, so nothing is read without a cap: a line has at most `MAX_LINE` bytes, a file
`MAX_LINES` lines and `max_bytes` after inflating, and what a compressed file inflates to is bounded
by its own size too (a gzip bomb reaches 1,000:1; recorded streams stay below 100:1).
"""

from __future__ import annotations

import gzip
import importlib
import io
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from conformance.cassette.pipes import is_pipe, pipe_bytes, refuse_terminal
from conformance.core.errors import CassetteError, Place
from conformance.core.regular_file import expect_regular

MAX_BYTES: Final = 256 * 1024 * 1024
MAX_LINE: Final = 16 * 1024 * 1024
MAX_LINES: Final = 4_000_000
_MAX_RATIO: Final = 200
_ALWAYS_ALLOWED: Final = 16 * 1024 * 1024
_ZSTD_MODULES: Final = ("compression.zstd", "zstandard")
COMPRESSIONS: Final = (".gz", ".zst")
_FIRST_BYTES: Final = {b"\x1f\x8b\x08": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}

_BLOCK: Final = 1 << 18  # bytes


class _OpenSource(NamedTuple):
    """What can be read; how it was packed, and in how many bytes."""

    stream: Any
    packed: str
    size: int


class LineBlock(NamedTuple):
    """Lines that were read together, without their LF; `first` is the number of the first.

    `ended` is False where the file stopped before the LF of the last.
    """

    first: int
    data: list[bytes]
    ended: bool

    def one(self, at: int) -> RawLine:
        """The line at an index of `data`."""
        return RawLine(self.first + at, self.data[at], self.ended or at + 1 < len(self.data))


class RawLine(NamedTuple):
    """One line without its LF. `ended` is False where the file stopped before the LF."""

    number: int
    data: bytes
    ended: bool


def plain_name(path: Path) -> str:
    """The file's name in lower case, without `.gz` or `.zst`."""
    name = path.name.lower()
    return name.rsplit(".", 1)[0] if name.endswith(COMPRESSIONS) else name


def read_lines(path: Path) -> Iterator[RawLine]:
    """Every line of the file, one by one; as `blocks`."""
    for block in read_blocks(path):
        yield from map(block.one, range(len(block.data)))


def read_blocks(path: Path, *, max_bytes: int = MAX_BYTES) -> Generator[LineBlock, None, None]:
    """The file's lines, about a quarter of a megabyte at a time.

    A truncated `.gz` or `.zst` ends with an empty line that has not `ended`. Raises CassetteError
    if the file cannot be read or a cap is passed.
    """
    with _open_source(path) as source:
        number, kept = 1, _PartialLine(path)
        for data in _read_pieces(source.stream, path, _size_limit(source, max_bytes)):
            if data is None:
                yield LineBlock(number, [b""], ended=False)
                return
            found = kept.split(data, number)
            if found:
                yield LineBlock(number, found, ended=True)
                number += len(found)
        if rest := kept.rest():
            yield LineBlock(number, rest, ended=False)


class _PartialLine:
    """The beginning of a line that has not ended yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parts: list[bytes] = []
        self._size = 0

    def split(self, data: bytes, number: int) -> list[bytes]:
        """The lines that end in `data`, the first of which is line `number`."""
        head, ended, tail = data.partition(b"\n")
        self._add_part(head, number)
        if not ended:
            return []
        found = [*self.rest(), *tail.split(b"\n")]
        last = found.pop()
        if number + len(found) - 1 > MAX_LINES:
            _too_many(self._path)
        if last:
            self._add_part(last, number + len(found))
        return found

    def rest(self) -> list[bytes]:
        """The one line that is there, if any; nothing is kept of it."""
        parts, self._parts, self._size = self._parts, [], 0
        return [b"".join(parts)] if parts else []

    def _add_part(self, part: bytes, number: int) -> None:
        self._parts.append(part)
        self._size += len(part)
        if self._size > MAX_LINE:
            _too_long(self._path, number)


def _read_pieces(stream: Any, path: Path, limit: int) -> Iterator[bytes | None]:
    """What the file holds, piece by piece; None at the end of one that was cut short."""
    total = 0
    while True:
        try:
            data = stream.read1(_BLOCK)
        except EOFError:
            yield None
            return
        if not data:
            return
        total += len(data)
        _bound_file(path, total, limit)
        yield data


def read_whole(path: Path, *, max_bytes: int = MAX_BYTES) -> bytes:
    """The file's bytes, inflated. Raises CassetteError as `lines` does, and for a torn file."""
    with _open_source(path) as source:
        limit = _size_limit(source, max_bytes)
        try:
            data: bytes = source.stream.read(limit + 1)
        except EOFError as err:
            raise CassetteError("the compressed file is cut short", place=_place_of(path)) from err
        _bound_file(path, len(data), limit)
        return data


def read_beginning(path: Path, size: int) -> bytes:
    """The first bytes of the file, inflated, fewer if it is shorter. Raises CassetteError."""
    with _open_source(path) as source:
        try:
            found: bytes = source.stream.read(size)
        except EOFError:
            return b""
        return found


def _place_of(path: Path, line: int | None = None) -> Place:
    return Place(str(path), line)


def _size_limit(source: _OpenSource, max_bytes: int) -> int:
    if not source.packed:
        return max_bytes
    return min(max_bytes, _ALWAYS_ALLOWED + _MAX_RATIO * source.size)


def _too_many(path: Path) -> NoReturn:
    raise CassetteError(f"the file has more than {MAX_LINES:,} lines", place=_place_of(path))


def _too_long(path: Path, number: int) -> NoReturn:
    raise CassetteError(
        f"the line is longer than {MAX_LINE:,} bytes", place=_place_of(path, number)
    )


def _bound_file(path: Path, total: int, limit: int) -> None:
    if total > limit:
        raise CassetteError(f"the file holds more than {limit:,} bytes", place=_place_of(path))


@contextmanager
def _open_source(path: Path) -> Iterator[_OpenSource]:
    packed = ""
    damage: tuple[type[Exception], ...] = (gzip.BadGzipFile, zlib.error)
    try:
        with _open_raw(path) as raw:
            packed = _compression_suffix(path, raw.peek(4)[:4])
            if not packed:
                yield _OpenSource(raw, packed, 0)
                return
            opened, damage = _unpacking_reader(path, packed, raw)
            size = raw.seek(0, io.SEEK_END)
            raw.seek(0)
            with opened as stream:
                yield _OpenSource(stream, packed, size)
    except damage as err:
        raise CassetteError(f"damaged {packed} file: {err}", place=_place_of(path)) from err
    except OSError as err:
        reason = (err.strerror or str(err)).lower()
        raise CassetteError(f"cannot be read: {reason}", place=_place_of(path)) from err


def _open_raw(path: Path) -> io.BufferedReader:
    if not is_pipe(path):
        expect_regular(path)
        return path.open("rb")
    refuse_terminal(path)
    data = pipe_bytes(path, MAX_BYTES)
    _bound_file(path, len(data), MAX_BYTES)
    return io.BufferedReader(io.BytesIO(data))


def _compression_suffix(path: Path, first: bytes) -> str:
    """`.gz` or `.zst`, empty where the bytes are as they are."""
    for magic, kind in _FIRST_BYTES.items():
        if first.startswith(magic):
            return kind
    name = str(path).lower()  # `suffix` takes its time
    return next((kind for kind in COMPRESSIONS if name.endswith(kind)), "")


def _unpacking_reader(
    path: Path, packed: str, raw: io.BufferedReader
) -> tuple[Any, tuple[type[Exception], ...]]:
    """What gives the bytes that were packed, and what it raises for a damaged file."""
    if packed == ".gz":
        return gzip.GzipFile(fileobj=raw), (gzip.BadGzipFile, zlib.error)
    module = zstd_module(path)
    return module.open(raw, "rb"), (module.ZstdError,)


def zstd_module(path: Path) -> Any:
    """What unpacks zstd. Raises CassetteError for a Python that cannot."""
    for name in _ZSTD_MODULES:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise CassetteError(
        "a .zst file needs Python 3.14 or the package zstandard",
        place=_place_of(path),
        hint='pip install "reasoning-conformance[compression]"',
    )
