"""Frames that are equal byte for byte but for a few values, taken apart in bulk.

A model streams thousands of frames that differ in nothing but the text of a delta, a sequence
number, some padding. Such frames share a *template*: constant pieces of bytes with holes between
them. The values in the holes are its *columns*. What lies between two holes is found by splitting
the bytes at the constant pieces, which is done in C for all frames of a chunk at once.

Rule 1: what a template takes is exactly what the SSE parser and the JSON decoder would give for
those bytes: the same frames, the same payloads but for the columns. Where that is not certain it
takes nothing, and the bytes go the slow way.
Rule 2: a hole holds one JSON string, or one integer of digits, and no more. All holes of a column
are decoded as one JSON array with a raw line feed behind each comma. A fragment that leaked out of
its string would put a raw line feed into one, which is no JSON, or change the number of elements.
Rule 3: no constant piece can stand inside a hole: each but the first begins with what no JSON
string can hold unescaped, a quote behind a comma or a brace behind a quote, or with a line feed.
If it does all the same, the hole is no JSON and rule 2 finds it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from conformance.rules.paths import getter

_STRINGS: Final = msgspec.json.Decoder(list[str])
_INTEGERS: Final = msgspec.json.Decoder(list[int])
_VALUE: Final = re.compile(r'\s*("[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"|0|[1-9][0-9]*)')
_MOST_DIGITS: Final = 18
_LINE: Final = b"\n"
_END: Final = b"\n\n"
_PROBES: Final = {str: '"\\u0001 \\u0002"', int: "271828182845904523"}


@dataclass(frozen=True, slots=True)
class Taken:
    """Frames taken off a buffer: their number, their size, the columns' values and raw bytes.

    `values[c][i]` is column c of frame i; `raw[c][i]` the bytes it stood there with.
    """

    count: int
    size: int
    values: tuple[list[Any], ...]
    raw: tuple[list[bytes], ...]


@dataclass(frozen=True, slots=True)
class Template:
    """Constant pieces around the holes, first and last included, and the columns' paths.

    `kinds` are str or int. A frame is pieces[0], hole, pieces[1], ..., and ends in a blank line.
    """

    pieces: tuple[bytes, ...]
    columns: tuple[str, ...]
    kinds: tuple[type, ...]

    def take(self, buffer: bytes, at: int) -> Taken | None:
        """All whole frames of this template that stand side by side at `at`; None if there is none.

        Time is linear in what is looked at, which is `buffer` from `at` on.
        """
        first, last = self.pieces[0], self.pieces[-1]
        if not buffer.startswith(first, at) or buffer.find(last, at + len(first)) < 0:
            return None
        rows = buffer[at + len(first) :].split(last + first)
        for number, row in enumerate(rows):
            if _LINE in row:  # another frame follows, or nothing
                hole, closed, _ = row.partition(last)
                rows[number:] = [hole] if closed else []
                break
        else:
            rows.pop()  # the last frame is not all there yet
        return self._rows(rows) if rows else None

    def _rows(self, rows: list[bytes]) -> Taken | None:
        raw = self._columns(rows)
        if raw is None:
            return None
        try:
            values = tuple(map(_decoded, raw, self.kinds))
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        count = len(rows)
        if any(column is None or len(column) != count for column in values):
            return None
        size = sum(map(len, rows)) + count * (len(self.pieces[0]) + len(self.pieces[-1]))
        return Taken(count, size, tuple(column for column in values if column is not None), raw)

    def _columns(self, rows: list[bytes]) -> tuple[list[bytes], ...] | None:
        """The holes of all rows, column by column; None where a row has another number of them."""
        holes = len(self.columns)
        if holes == 1:
            return (rows,)
        joined = _LINE.join(rows)
        for piece in self.pieces[1:-1]:
            joined = joined.replace(piece, _LINE)
        flat = joined.split(_LINE)
        if len(flat) != holes * len(rows):
            return None
        return tuple(flat[hole::holes] for hole in range(holes))

    def frame(self, raw: Sequence[bytes]) -> bytes:
        """One frame with these values in its holes."""
        parts = [self.pieces[0]]
        for value, piece in zip(raw, self.pieces[1:], strict=True):
            parts += [value, piece]
        return b"".join(parts)


def _decoded(raw: list[bytes], kind: type) -> list[Any] | None:
    if kind is str:
        return _STRINGS.decode(b"[" + b",\n".join(raw) + b"]")
    digits = b"".join(raw)
    if not digits.isdigit() or max(map(len, raw)) > _MOST_DIGITS:
        return None
    return _INTEGERS.decode(b"[" + b",\n".join(raw) + b"]")


def template(event: str | None, data: str, payload: Any, columns: Sequence[str]) -> Template | None:
    """The template of a frame as servers write it: an event line if any, one data line, LF.

    `payload` is the decoded `data`. None where a column is not found with certainty.
    """
    spans = [_span(data, payload, path) for path in columns]
    if not spans or None in spans:
        return None
    ordered = sorted((span, path) for span, path in zip(spans, columns, strict=True) if span)
    head = f"event: {event}\ndata: " if event is not None else "data: "
    pieces: list[bytes] = []
    at = 0
    for (low, high), _ in ordered:
        pieces.append((data[at:low] if pieces else head + data[:low]).encode())
        at = high
    pieces.append(data[at:].encode() + _END)
    if any(not piece.strip() or _LINE in piece.removesuffix(_END) for piece in pieces[1:]):
        return None
    kinds = tuple(type(getter(path)(payload)) for _, path in ordered)
    return Template(tuple(pieces), tuple(path for _, path in ordered), kinds)


def _span(data: str, payload: Any, path: str) -> tuple[int, int] | None:
    """Where the value of `path` stands in `data`, proved by putting another one there."""
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
