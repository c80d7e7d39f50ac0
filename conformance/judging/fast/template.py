"""Frames that are equal byte for byte except a few values, taken apart in bulk.

A model streams thousands of frames that differ in nothing but the text of a delta, a sequence
number, some padding. Such frames share a *template*: constant pieces of bytes with holes between
them. The values in the holes are its *columns*. What lies between two holes is found by splitting
the bytes at the constant pieces, which is done in C for all frames of a chunk at once.

Rule 1: what a template takes is exactly what the SSE parser and the JSON decoder would give for
those bytes: the same frames, the same payloads except the columns. Where that is not certain it
takes nothing, and the bytes are read the slow way.
Rule 2: a hole holds one JSON string, or one integer of digits, and no more. The rows of many
frames are decoded as one JSON array with a raw line feed after each comma. A fragment that leaked
out of its string would put a raw line feed into one, which is invalid JSON; one that brings its own
elements or keys changes the number of elements, or does not have the type of the row.
Rule 3: the bytes between two holes are the same in every row: they are compared as bytes, decoded
into types of one value, or compared with the first frame's (a long text or the bytes of a list).
Rule 4: a row has as many strings as the first one. A duplicate key would add one, and a decoder
would take the last of both values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Struct

from conformance.rules.paths import getter

_STRINGS: Final = msgspec.json.Decoder(list[str])
_INTEGERS: Final = msgspec.json.Decoder(list[int])
_WHOLE: Final = Annotated[int, msgspec.Meta(ge=0)]
_VALUE: Final = re.compile(r'\s*("[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"|0|[1-9][0-9]*)')
_MOST_DIGITS: Final = 18
_SHORT: Final = 16  # characters of a constant that may be part of a type
_SMALL: Final = 1000
_LINE: Final = b"\n"
FRAME_END: Final = b"\n\n"  # of an event stream
LINE_END: Final = b"\n"
_LINES: Final = re.compile(rb"\n+")
_PROBES: Final = {str: '"\\u0001 \\u0002"', int: "271828182845904523"}


class Taken(Struct, frozen=True):
    """Frames taken off a buffer: their number, size and values.

    `values[c][i]` is column c of frame i; `rows[i]` are the bytes between the first piece and the
    last: the only part in which frames differ.
    """

    size: int
    values: tuple[list[Any], ...]
    rows: list[bytes]


Decode = Callable[[list[bytes]], tuple[list[Any], ...] | None]


class Template(Struct, frozen=True):
    """The constant beginning and end of a frame, and how rows between them are decoded."""

    head: bytes  # the event line, if any, and the name of the data field
    first: bytes  # the data up to the first hole
    last: bytes  # the data after the last hole
    columns: tuple[str, ...]
    decode: Decode
    around: int  # bytes of a frame that do not belong to its row
    end: bytes = FRAME_END

    def take(self, buffer: bytes, at: int) -> Taken | None:
        """All complete adjacent frames of this template from `at` on; None if there is none.

        Time is linear in the bytes of `buffer` from `at` on.
        """
        opening = self.head + self.first
        if not buffer.startswith(opening, at):
            return None
        frames = buffer[at:].split(self.end)
        frames.pop()  # not all there yet
        low, high = len(opening), -len(self.last) or None
        rows = [frame[low:high] for frame in frames]
        # Put together again they give the bytes that they were cut from, if all are of this kind.
        whole = b"".join((opening, (self.last + self.end + opening).join(rows), self.last))
        is_alike = len(whole) == sum(map(len, frames)) + len(self.end) * (len(frames) - 1)
        values = self.values(rows) if is_alike and buffer.startswith(whole, at) else None
        if values is None:
            rows = self._leading_rows(frames)
            values = self.values(rows) if rows else None
        if values is None:
            return None
        if len(values[0]) < len(rows):  # lines of another kind follow
            rows = rows[: len(values[0])]
        return Taken(sum(map(len, rows)) + self.around * len(rows), values, rows)

    def may_begin(self, ahead: bytes) -> bool:
        """Whether a frame is one of these, or may become one: it is not all there."""
        return self.end not in ahead or self.take(ahead, 0) is not None

    def _leading_rows(self, frames: Sequence[bytes]) -> list[bytes]:
        """The rows of those frames that come before the first of another kind."""
        opening, last, size = self.head + self.first, self.last, self.around - len(self.end)
        low, high = len(opening), -len(last) or None
        rows: list[bytes] = []
        for frame in frames:
            if not (frame.startswith(opening) and frame.endswith(last)) or len(frame) < size:
                break
            row = frame[low:high]
            if _LINE in row:
                break
            rows.append(row)
        return rows

    def values(self, rows: list[bytes]) -> tuple[list[Any], ...] | None:
        """The columns of rows that hold no line feed; None where one of them may not be one.

        They may be those of the first rows only, where it is certain that the next one is not.
        """
        return None if _ends_a_line(b"".join(rows)) else self.decode(rows)

    def data(self, row: bytes) -> bytes:
        """The data of the frame that a row belongs to."""
        return self.first + row + self.last


def frames_end(buffer: bytes, at: int) -> int:
    """The position after the next blank line, or after all that begin at `at`; else the end."""
    end = buffer.find(FRAME_END, at)
    if end == at and (blank := _LINES.match(buffer, at)):
        return blank.end()
    return end + len(FRAME_END) if end >= 0 else len(buffer)


def line_end(buffer: bytes, at: int) -> int:
    """The position after the next line, else the end."""
    return buffer.find(LINE_END, at) + len(LINE_END) or len(buffer)


def _quote_count(data: bytes) -> int:
    """How many quotation marks open and close strings: two each, those inside are escaped."""
    if b"\\" in data:  # in pairs first: what is left before a quotation mark escapes it
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    return data.count(b'"')


def _ends_a_line(data: bytes) -> bool:
    """Whether there is a break, white space to JSON but the end of a line to SSE."""
    return b"\n" in data or b"\r" in data


def _one(kind: type) -> Decode:
    """Rows of one column: each row is one JSON value."""

    def decode(rows: list[bytes]) -> tuple[list[Any], ...] | None:
        column = _column(rows, kind)
        return None if column is None else (column,)

    return decode


def _several(pieces: Sequence[bytes], kinds: Sequence[type]) -> Decode:
    """Rows of several columns with constant pieces between them, at any depth."""

    def decode(rows: list[bytes]) -> tuple[list[Any], ...] | None:
        flat: list[bytes] = []
        for row in rows:
            holes = _cut_at(row, pieces)
            if holes is None:
                break
            flat += holes
        if not flat:
            return None
        columns = [_column(flat[at :: len(kinds)], kind) for at, kind in enumerate(kinds)]
        return None if None in columns else tuple(c for c in columns if c is not None)

    return decode


def _cut_at(row: bytes, pieces: Sequence[bytes]) -> list[bytes] | None:
    """The bytes before, between and after the pieces, which come in this order."""
    holes: list[bytes] = []
    for piece in pieces:
        hole, found, row = row.partition(piece)
        if not found:
            return None
        holes.append(hole)
    holes.append(row)
    return holes


def _column(raw: list[bytes], kind: type) -> list[Any] | None:
    """The values of one column; None unless each fragment is exactly one value of the kind."""
    try:
        if kind is str:
            column: list[Any] = _STRINGS.decode(b"[" + b",\n".join(raw) + b"]")
        else:
            if not b"".join(raw).isdigit() or max(map(len, raw)) > _MOST_DIGITS:
                return None
            column = _INTEGERS.decode(b"[" + b",\n".join(raw) + b"]")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return column if len(column) == len(raw) else None


def _siblings(fragment: str, names: Sequence[str]) -> Decode | None:
    """Rows whose columns are in one object, with constants between them: decoded as structs.

    `fragment` is the row of the first frame, `names` are the columns' keys in order. Constants are
    types of one value or held against the first frame's, and other keys are refused, so that only
    equal rows come through.
    """
    opening = f'{{"{names[0]}":'.encode()
    try:
        inner = msgspec.json.decode(opening + fragment.encode() + b"}")
    except (msgspec.DecodeError, UnicodeError):
        return None
    try:
        row = _row(
            tuple((key, _kind(value, is_column=key in names)) for key, value in inner.items())
        )
    except ValueError:
        return None  # a key that has to be escaped
    wanted = [row.get(name) for name in names]
    # A value without a type is compared with that of the first frame.
    try:
        (first,) = row.decoder.decode(b"[" + opening + fragment.encode() + b"}]")
    except msgspec.DecodeError:
        return None  # a number below 0
    held = [row.get(k) for k, v in inner.items() if k not in names and not _is_typed(v)]
    same = [(get, get(first)) for get in held]
    quotes = _quote_count(opening + fragment.encode())

    def decode(rows: list[bytes]) -> tuple[list[Any], ...] | None:
        text = b"[" + opening + (b"},\n" + opening).join(rows) + b"}]"
        try:
            found = row.decoder.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        is_alike = len(found) == len(rows) and _quote_count(text) == quotes * len(rows)
        if not is_alike or any(list(map(g, found)).count(v) < len(rows) for g, v in same):
            return None
        return tuple(list(map(get, found)) for get in wanted)

    return decode


class _Row:
    """A type of rows: made once for all streams whose rows have the same keys and constants."""

    def __init__(self, fields: Sequence[tuple[str, Any]]) -> None:
        named = {key: f"f{at}" for at, (key, _) in enumerate(fields)}
        row = msgspec.defstruct(
            "Row",
            [(named[key], kind) for key, kind in fields],
            rename={name: key for key, name in named.items()},
            forbid_unknown_fields=True,
            gc=False,
        )
        self.decoder = msgspec.json.Decoder(list[row])  # type: ignore[valid-type]
        self._named = named

    def get(self, key: str) -> attrgetter[Any]:
        return attrgetter(self._named[key])


_row = lru_cache(maxsize=256)(_Row)


def _kind(value: Any, *, is_column: bool) -> Any:
    """The type of a key's values: any string, a whole number of 0 or more, or a constant."""
    if not is_column:
        if _is_typed(value):
            return Literal[value]
        if isinstance(value, str):
            return str
        return int if type(value) is int else msgspec.Raw  # its very bytes are compared
    return str if isinstance(value, str) else _WHOLE


def _is_typed(value: Any) -> bool:
    """Whether a constant has its own type: a short text, a small number, null.

    Ids and times are one stream's own: their types would be made again for every stream.
    """
    if isinstance(value, str):
        return len(value) <= _SHORT
    return value is None or (type(value) is int and -_SMALL < value < _SMALL)


def template(
    event: str | None, data: str, payload: Any, columns: Sequence[str], *, is_line: bool = False
) -> Template | None:
    """The template of a frame as servers write it: an event line if any, one data line, LF.

    `payload` is the decoded `data`; with `is_line` that is all there is. None where a column is not
    found with certainty.
    """
    if "\n" in data:
        return None
    spans = [_span(data, payload, path) for path in columns]
    if not spans or None in spans:
        return None
    ordered = sorted((span, path) for span, path in zip(spans, columns, strict=True) if span)
    paths = tuple(path for _, path in ordered)
    decode = _decode(data, payload, [span for span, _ in ordered], paths)
    if decode is None:
        return None
    begin, end = ordered[0][0][0], ordered[-1][0][1]
    head = f"event: {event}\ndata: " if event is not None else "" if is_line else "data: "
    pieces = head.encode(), data[:begin].encode(), data[end:].encode()
    closing = LINE_END if is_line else FRAME_END
    around = sum(map(len, pieces)) + len(closing)
    return Template(*pieces, paths, decode, around, closing)


def _decode(
    data: str, payload: Any, spans: Sequence[tuple[int, int]], paths: Sequence[str]
) -> Decode | None:
    kinds = [type(getter(path)(payload)) for path in paths]
    if len(paths) == 1:
        return _one(kinds[0])
    parents = {path.rpartition(".")[0] for path in paths}
    if len(parents) == 1:
        names = [path.rpartition(".")[2] for path in paths]
        return _siblings(data[spans[0][0] : spans[-1][1]], names)
    pieces = [data[high:low].encode() for (_, high), (low, _) in pairwise(spans)]
    return None if any(not piece.strip() for piece in pieces) else _several(pieces, kinds)


def _span(data: str, payload: Any, path: str) -> tuple[int, int] | None:
    """Where the value of `path` is in `data`, proved by putting another one there."""
    value = getter(path)(payload)
    kind = type(value)
    if kind not in _PROBES:
        return None
    probe = _PROBES[kind]
    name = f'"{path.rpartition(".")[2]}"'
    at = data.find(name)
    while at >= 0:
        colon = data.find(":", at + len(name))
        found = _VALUE.match(data, colon + 1) if colon >= 0 else None
        if found is not None:
            low, high = found.span(1)
            if _is_there(data[:low] + probe + data[high:], payload, path, probe):
                return low, high
        at = data.find(name, at + 1)
    return None


def _is_there(text: str, payload: Any, path: str, probe: str) -> bool:
    """Whether `text` differs from the payload in nothing but the probe at `path`."""
    try:
        changed = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    *above, name = path.split(".")
    owner = getter(".".join(above))(changed) if above else changed
    if not isinstance(owner, dict) or owner.get(name) != msgspec.json.decode(probe):
        return False
    owner[name] = getter(path)(payload)
    return bool(changed == payload)
