"""Values of one Parquet column whose pages are too large to be unpacked whole, one after the other.

Rule 1: a page is unpacked piece by piece; a value of more than `MAX_VALUE` bytes is counted, never
held. Rule 2: only flat columns of bytes or text are read so, plain or by a dictionary: what other
columns and encodings make of a large page is not known beforehand.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import repeat
from typing import Any, Final, NamedTuple

from conformance.corpus.arrow import load_module
from conformance.corpus.parquet_pages import (
    MAX_VALUE,
    ColumnPages,
    DamagedPageError,
    Page,
    varint_at,
)

MOST_AT_ONCE: Final = 1 << 30  # bytes of a page that cannot be unpacked in pieces, of a dictionary
_PLAIN: Final = 0
_BY_DICTIONARY: Final = (2, 8)
_STREAMED: Final = {"ZSTD": "zstd", "GZIP": "gzip", "BROTLI": "brotli"}
_AT_ONCE: Final = {"SNAPPY": "snappy", "LZ4": "lz4_raw", "LZ4_RAW": "lz4_raw"}
_PIECE: Final = 1 << 20
_WIDEST: Final = 32  # bits of a number
_LENGTH: Final = 4  # bytes in front of a plain value, and of levels in pages of version 1


class OversizedValue(NamedTuple):
    """A value that was not read, and how many bytes it has."""

    size: int


ColumnValue = bytes | OversizedValue | None


class UnreadablePageError(ValueError):
    """A page is larger than what may be unpacked, and cannot be read in pieces."""


def column_values(
    file: Any, parquet: Any, group: int, column: ColumnPages
) -> Iterator[ColumnValue]:
    """Every value of a column chunk. Raises UnreadablePageError, DamagedPageError and OSError."""
    about = parquet.schema.column(column.column)
    codec = parquet.metadata.row_group(group).column(column.column).compression
    is_flat = about.path == column.name and about.max_definition_level <= 1
    known = {_PLAIN, *_BY_DICTIONARY}
    is_known = all(page.encoding in known for page in column.pages)
    if about.physical_type != "BYTE_ARRAY" or not (is_flat and is_known):
        raise UnreadablePageError(_too_large(column))
    entries: list[ColumnValue] = []
    for page in column.pages:
        opened = _open_page(file, page, codec, column)
        if page.is_dictionary:
            entries = _dictionary_of(opened.stream, page, column)
        else:
            is_optional = about.max_definition_level == 1
            yield from _values_of(opened, page, entries, is_optional=is_optional)


def _too_large(column: ColumnPages) -> str:
    return (
        f"column {column.name!r} has a page of {column.largest:,} bytes, more than {MAX_VALUE:,}:"
        " nothing of it was read"
    )


class _PageStream:
    """What a page holds, unpacked, read forward."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        """Exactly so many bytes. Raises DamagedPageError where there are fewer."""
        parts: list[bytes] = []
        left = size
        while left:
            part = bytes(self._stream.read(min(left, _PIECE)))
            if not part:
                raise DamagedPageError("a page is shorter than what it says of itself")
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def skip(self, size: int) -> None:
        while size:
            size -= len(self.read(min(size, _PIECE)))

    def rest(self) -> bytes:
        """Everything that is left, at most `MAX_VALUE` bytes."""
        parts: list[bytes] = []
        while (part := bytes(self._stream.read(_PIECE))) and len(parts) * _PIECE <= MAX_VALUE:
            parts.append(part)
        return b"".join(parts)

    def plain_value(self) -> ColumnValue:
        size = int.from_bytes(self.read(_LENGTH), "little")
        if size <= MAX_VALUE:
            return self.read(size)
        self.skip(size)
        return OversizedValue(size)


class _OpenPage(NamedTuple):
    """A page to be read: the levels in front that are never packed, and what follows."""

    levels: bytes
    stream: _PageStream


def _open_page(file: Any, page: Page, codec: str, column: ColumnPages) -> _OpenPage:
    if page.levels > MAX_VALUE:
        raise DamagedPageError("a page has more levels than bytes")
    packed = _Stretch(file, page.start, page.packed)
    levels = packed.read(page.levels)
    return _OpenPage(levels, _PageStream(_unpack_page(packed, page, codec, column)))


def _unpack_page(packed: _Stretch, page: Page, codec: str, column: ColumnPages) -> Any:
    """What the rest of a page holds, to be read forward."""
    arrow = load_module("pyarrow")
    if codec == "UNCOMPRESSED" or not page.is_packed:
        return packed
    if codec in _STREAMED:
        return arrow.CompressedInputStream(arrow.PythonFile(packed, "r"), _STREAMED[codec])
    if codec not in _AT_ONCE or page.size > MOST_AT_ONCE:
        raise UnreadablePageError(_too_large(column))
    size = page.size - page.levels
    try:
        data = arrow.decompress(packed.read(page.packed), size, _AT_ONCE[codec])
    except OSError as err:
        raise DamagedPageError(f"a page cannot be unpacked: {err}") from err
    return arrow.BufferReader(data)


class _Stretch(io.RawIOBase):
    """Some bytes of a file, as a file."""

    def __init__(self, file: Any, start: int, size: int) -> None:
        super().__init__()
        self._file = file
        self._at = start
        self._end = start + size

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        left = self._end - self._at
        count = left if size is None or size < 0 else min(size, left)
        self._file.seek(self._at)  # others read the same file
        data = bytes(self._file.read(count))
        self._at += len(data)
        return data


def _dictionary_of(stream: _PageStream, page: Page, column: ColumnPages) -> list[ColumnValue]:
    entries: list[ColumnValue] = []
    held = 0
    for _ in range(page.values):
        entries.append(stream.plain_value())
        last = entries[-1]
        held += len(last) if isinstance(last, bytes) else 0
        if held > MOST_AT_ONCE:
            raise UnreadablePageError(_too_large(column))
    return entries


def _values_of(
    opened: _OpenPage, page: Page, entries: list[ColumnValue], *, is_optional: bool
) -> Iterator[ColumnValue]:
    """Of a data page, as many as it says it has. Levels say which of them are null."""
    stream = opened.stream
    there = _value_presence(opened, page, is_optional=is_optional)
    if page.encoding == _PLAIN:
        for is_there in there:
            yield stream.plain_value() if is_there else None
        return
    numbers: Iterator[int] | None = None
    for is_there in there:
        if not is_there:
            yield None
            continue
        if numbers is None:
            width = stream.read(1)[0]
            numbers = _hybrid_numbers(stream.rest(), width)
        number = next(numbers, -1)
        if not 0 <= number < len(entries):
            raise DamagedPageError("a page names an entry that its dictionary lacks")
        yield entries[number]


def _value_presence(opened: _OpenPage, page: Page, *, is_optional: bool) -> Iterator[bool]:
    """For every value of a page whether it is there."""
    if not is_optional:
        yield from repeat(True, page.values)
        return
    levels = opened.levels
    if page.version == 1:
        size = int.from_bytes(opened.stream.read(_LENGTH), "little")
        if size > MAX_VALUE:
            raise DamagedPageError("a page has more levels than bytes")
        levels = opened.stream.read(size)
    numbers = _hybrid_numbers(levels, 1)
    for _ in range(page.values):
        level = next(numbers, None)
        if level is None:
            raise DamagedPageError("a page has fewer levels than values")
        yield level == 1


def _hybrid_numbers(data: bytes, width: int) -> Iterator[int]:
    """Numbers of `width` bits in runs: of one number, or packed eight at a time."""
    if width > _WIDEST:
        raise DamagedPageError("a page has numbers of too many bits")
    at, mask, bytes_each = 0, (1 << width) - 1, (width + 7) // 8
    while at < len(data):
        try:
            head, at = varint_at(data, at)
        except IndexError as err:
            raise DamagedPageError("a run of numbers is cut short") from err
        if head & 1 and not width:
            yield from repeat(0, 8 * (head >> 1))
        elif head & 1:
            for start in range(at, min(at + (head >> 1) * width, len(data)), width):
                eight = int.from_bytes(data[start : start + width], "little")
                yield from (eight >> (bit * width) & mask for bit in range(8))
            at += (head >> 1) * width
        else:
            yield from repeat(int.from_bytes(data[at : at + bytes_each], "little"), head >> 1)
            at += bytes_each
