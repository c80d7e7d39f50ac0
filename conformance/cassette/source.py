"""Files of any compression, read as bytes within bounds.

A recording may come from anywhere, so nothing is read without a cap: a line has at most
`MAX_LINE` bytes, a file `MAX_LINES` lines and `max_bytes` after inflating, and what a compressed
file inflates to is bounded by its own size too (a gzip bomb reaches 1,000:1; recorded streams stay
below 100:1).
"""

from __future__ import annotations

import gzip
import importlib
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from conformance.errors import CassetteError, Place

MAX_BYTES: Final = 256 * 1024 * 1024
MAX_LINE: Final = 16 * 1024 * 1024
MAX_LINES: Final = 4_000_000
_MAX_RATIO: Final = 200
_ALWAYS_ALLOWED: Final = 16 * 1024 * 1024
_ZSTD_MODULES: Final = ("compression.zstd", "zstandard")
COMPRESSIONS: Final = (".gz", ".zst")

_Stream = IO[bytes] | gzip.GzipFile


class RawLine(NamedTuple):
    """One line without its LF. `ended` is False where the file stopped before the LF."""

    number: int
    data: bytes
    ended: bool


def plain_name(path: Path) -> str:
    """The file's name in lower case, without `.gz` or `.zst`."""
    name = path.name.lower()
    return name.rsplit(".", 1)[0] if name.endswith(COMPRESSIONS) else name


def lines(path: Path, *, max_bytes: int = MAX_BYTES) -> Generator[RawLine, None, None]:
    """Every line of the file. A truncated `.gz` or `.zst` ends with a line that has not `ended`.

    Raises CassetteError if the file cannot be read or a cap is passed.
    """
    with _opened(path) as stream:
        limit = _limit(path, max_bytes)
        total = number = 0
        while True:
            number += 1
            try:
                data = stream.readline(MAX_LINE + 1)
            except EOFError:
                yield RawLine(number, b"", ended=False)
                return
            if not data:
                return
            total += len(data)
            _bound_line(path, number, data)
            _bound_file(path, total, limit)
            ended = data.endswith(b"\n")
            yield RawLine(number, data[:-1] if ended else data, ended)


def whole(path: Path, *, max_bytes: int = MAX_BYTES) -> bytes:
    """The file's bytes, inflated. Raises CassetteError as `lines` does, and for a torn file."""
    with _opened(path) as stream:
        limit = _limit(path, max_bytes)
        try:
            data = stream.read(limit + 1)
        except EOFError as err:
            raise CassetteError("the compressed file is cut short", place=_at(path)) from err
        _bound_file(path, len(data), limit)
        return data


def _at(path: Path, line: int | None = None) -> Place:
    return Place(str(path), line)


def _limit(path: Path, max_bytes: int) -> int:
    if path.suffix.lower() not in COMPRESSIONS:
        return max_bytes
    return min(max_bytes, _ALWAYS_ALLOWED + _MAX_RATIO * path.stat().st_size)


def _bound_line(path: Path, number: int, data: bytes) -> None:
    if number > MAX_LINES:
        raise CassetteError(f"the file has more than {MAX_LINES:,} lines", place=_at(path))
    if len(data) > MAX_LINE:
        raise CassetteError(f"the line is longer than {MAX_LINE:,} bytes", place=_at(path, number))


def _bound_file(path: Path, total: int, limit: int) -> None:
    if total > limit:
        raise CassetteError(f"the file holds more than {limit:,} bytes", place=_at(path))


@contextmanager
def _opened(path: Path) -> Iterator[_Stream]:
    suffix = path.suffix.lower()
    damage: tuple[type[Exception], ...] = (gzip.BadGzipFile, zlib.error)
    try:
        if suffix == ".gz":
            stream: _Stream = gzip.open(path, "rb")  # noqa: SIM115  # closed below
        elif suffix == ".zst":
            module = _zstd(path)
            damage = (module.ZstdError,)
            stream = module.open(path, "rb")
        else:
            stream = path.open("rb")
        with stream:
            yield stream
    except damage as err:
        raise CassetteError(f"damaged {suffix} file: {err}", place=_at(path)) from err
    except OSError as err:
        reason = (err.strerror or str(err)).lower()
        raise CassetteError(f"cannot be read: {reason}", place=_at(path)) from err


def _zstd(path: Path) -> Any:
    for name in _ZSTD_MODULES:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise CassetteError(
        "a .zst file needs Python 3.14 or the package zstandard",
        place=_at(path),
        hint="pip install zstandard",
    )
