"""Rows of JSON lines: those that begin within a range of bytes."""

from __future__ import annotations

import gzip
import importlib
import io
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from conformance.cassette.source import COMPRESSIONS
from conformance.core.errors import CassetteError, Place
from conformance.corpus.columns import ColumnNames, check_columns, path_values, top_name
from conformance.corpus.storage import Storage
from conformance.corpus.stored_payloads import is_stored_payload, payload_rows

MAX_LINE: Final = 512 << 20  # bytes; a body of 64 MiB as base64 or with escapes is less
JSON_LINES: Final = (".jsonl", ".ndjson", ".json")
_BLOCK: Final = 1 << 18
_FIRST_LINE: Final = 64 << 20
_DECODER: Final = msgspec.json.Decoder()
_CASSETTE: Final = "cassette"

JsonLine = tuple[int, dict[str, Any] | str]


def holds_rows(storage: Storage, path: str, columns: ColumnNames) -> bool:
    """Whether the lines are rows of streams, and not one stream; by the first line.

    A line that has the column of the bodies is a row, and so is every line where a mapping was
    given. Raises UsageError where the column is missing then, CassetteError for a damaged file.
    """
    first = first_row(storage, path)
    if first is None or _CASSETTE in first:
        return False
    if columns.chosen:
        check_columns(columns, (*first, *path_values(path)), storage.shown(path))
    is_row = top_name(columns.body) in first or columns.body in first
    return is_row or is_stored_payload(first)


def first_row(storage: Storage, path: str) -> Mapping[str, Any] | None:
    """The first line as an object, None where it is none. Raises CassetteError for damage."""
    try:
        with open_inflated(storage, path) as stream:
            lines = iter(lambda: stream.readline(_FIRST_LINE), b"")
            line = next((each for each in lines if each.strip()), b"")
        value = _DECODER.decode(line)
    except _damage_errors(path) as err:
        place = Place(storage.shown(path))
        raise CassetteError(f"the file is damaged or cut short: {err}", place=place) from err
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def is_json_rows(name: str) -> bool:
    """Whether a file of this name may hold rows as JSON lines."""
    bare = name.rpartition(".")[0] if is_compressed(name) else name
    return bare.endswith(JSON_LINES)


def read_json_rows(
    storage: Storage, path: str, first: int, size: int, columns: ColumnNames
) -> Iterator[JsonLine]:
    """The rows of the lines that begin in `size` bytes from `first` on, counted from 0.

    A compressed file is read as a whole; a line of a tool may hold several rows. A line that is no
    object gives the reason. Raises CassetteError for a file that is damaged.
    """
    end = None if is_compressed(path) else first + size
    place = Place(storage.shown(path))
    row = 0
    try:
        with open_inflated(storage, path) as stream:
            for line in _lines_between(stream, first, end):
                if len(line) >= MAX_LINE:
                    raise CassetteError(f"a line is longer than {MAX_LINE:,} bytes", place=place)
                value = _row_of(line) if line.strip() else None
                if value is None:
                    continue
                rows = (value,) if isinstance(value, str) else payload_rows(value, columns)
                for each in rows:
                    yield row, each
                    row += 1
    except _damage_errors(path) as err:
        raise CassetteError(f"the file is damaged or cut short: {err}", place=place) from err


def _lines_between(stream: Any, first: int, end: int | None) -> Iterator[bytes]:
    """Lines that begin at `first` or later, and before `end`."""
    at = first
    if first:  # the range may begin with the rest of a line of the range before
        stream.seek(first - 1)
        at += len(stream.readline(MAX_LINE)) - 1
    while end is None or at < end:
        line = stream.readline(MAX_LINE)
        if not line:
            return
        at += len(line)
        yield line


def _row_of(line: bytes) -> dict[str, Any] | str:
    try:
        value = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        return f"no JSON: {err}"
    return value if isinstance(value, dict) else "expected an object on each line"


def is_compressed(path: str) -> bool:
    return path.lower().endswith(COMPRESSIONS)


def open_inflated(storage: Storage, path: str) -> Any:
    """The file's bytes, inflated. Raises CassetteError where that is not possible."""
    file = storage.open_file(path)
    if path.lower().endswith(".gz"):
        return io.BufferedReader(gzip.GzipFile(fileobj=file), _BLOCK)
    if path.lower().endswith(".zst"):
        module = _zstd_module()
        if module is None:
            hint = "pip install zstandard"
            message = "a .zst file needs Python 3.14 or the package zstandard"
            raise CassetteError(message, place=Place(storage.shown(path)), hint=hint)
        return io.BufferedReader(module.open(file, "rb"), _BLOCK)
    return io.BufferedReader(file, _BLOCK)


def _zstd_module() -> Any:
    for name in ("compression.zstd", "zstandard"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def _damage_errors(path: str) -> tuple[type[Exception], ...]:
    """What reading a damaged file raises."""
    known: tuple[type[Exception], ...] = (OSError, EOFError, zlib.error)
    module = _zstd_module() if path.lower().endswith(".zst") else None
    return known if module is None else (*known, module.ZstdError)
