"""Sizes of the pages of a Parquet column chunk, from their headers, before any is unpacked.

Footer and header may state anything, but unpacking follows the header: 19 KB can be a page of
600 MB. https://parquet.apache.org/docs/file-format/data-pages/: a header is a struct of Thrift's
compact protocol, followed by `compressed_page_size` bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

_MOST_PAGES: Final = 1_000_000
_WINDOW: Final = 1 << 16
_LONGEST_HEADER: Final = 1 << 20  # it may hold the least and the largest value
_MOST_DEPTH: Final = 8
_VARINT_BITS: Final = 64
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY = 1, 2, 3, 7, 8
_INTEGERS: Final = (4, 5, 6)
_STRUCT: Final = 12


class DamagedPageError(ValueError):
    """What is where a page should begin is none."""


class LargestPage(NamedTuple):
    """The largest page of one column chunk: its bytes when unpacked."""

    column: str
    size: int


def largest_pages(file: Any, group: Any, columns: list[str]) -> list[LargestPage]:
    """Of each chunk below these columns. Raises DamagedPageError, OSError."""
    found = []
    for number in range(group.num_columns):
        chunk = group.column(number)
        path = str(chunk.path_in_schema)
        name = next((each for each in columns if path == each or path.startswith(f"{each}.")), None)
        if name is not None:
            found.append(LargestPage(name, max(_page_sizes(file, chunk), default=0)))
    return found


def _page_sizes(file: Any, chunk: Any) -> Iterator[int]:
    at = int(chunk.data_page_offset)
    end = int(chunk.total_compressed_size)
    if chunk.has_dictionary_page and 0 < (chunk.dictionary_page_offset or 0) < at:
        at = int(chunk.dictionary_page_offset)
    end += at
    window = _Window(file)
    for _ in range(_MOST_PAGES):
        if at >= end:
            return
        fields, start = window.header_at(at)
        unpacked, packed = (_size(fields, each) for each in (2, 3))
        at = start + packed
        yield unpacked
    raise DamagedPageError(f"more than {_MOST_PAGES:,} pages in one column")


def _size(fields: Mapping[int, Any], number: int) -> int:
    value = fields.get(number)
    if not isinstance(value, int) or value < 0:
        raise DamagedPageError("a page header lacks a size")
    return value


class _Window:
    """The bytes around a place in a file, read a few at a time."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._start = 0
        self._data = b""

    def header_at(self, at: int) -> tuple[Mapping[int, Any], int]:
        """The fields of the header there, and the position after it."""
        size = _WINDOW
        while True:
            begin = at - self._start
            if not 0 <= begin < len(self._data):
                self._read(at, size)
                begin = 0
            try:
                fields, end = _struct_at(self._data, begin, 0)
            except IndexError:
                if begin == 0 and (len(self._data) < size or size >= _LONGEST_HEADER):
                    raise DamagedPageError("a page header is cut short") from None
                size = size if begin else size * 4
                self._data = b""
            else:
                return fields, self._start + end

    def _read(self, at: int, size: int) -> None:
        self._file.seek(at)
        self._start, self._data = at, bytes(self._file.read(size))


def _struct_at(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """A struct of Thrift's compact protocol: field number -> value. IndexError where it is cut."""
    if depth > _MOST_DEPTH:
        raise DamagedPageError("a page header nests too deep")
    fields: dict[int, Any] = {}
    number = 0
    while (head := data[at]) != 0:
        at += 1
        kind = head & 15
        if step := head >> 4:
            number += step
        else:
            number, at = _zigzag_at(data, at)
        fields[number], at = _value_at(data, at, kind, depth)
    return fields, at + 1


def _value_at(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind in _INTEGERS:
        return _zigzag_at(data, at)
    if kind == _STRUCT:
        return _struct_at(data, at, depth + 1)
    if kind in (_BYTE, _DOUBLE):
        at += 1 if kind == _BYTE else 8
    elif kind == _BINARY:
        size, at = _varint_at(data, at)
        at += size
    else:  # of lists and maps no page header has one
        raise DamagedPageError("a page header has a field of an unknown type")
    if at > len(data):
        raise IndexError
    return None, at


def _zigzag_at(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint_at(data, at)
    return (value >> 1) ^ -(value & 1), at


def _varint_at(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and the position after it. IndexError if it is cut."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > _VARINT_BITS:
            raise DamagedPageError("a page header has a number without an end")
