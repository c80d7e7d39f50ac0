"""A recorded response taken apart into its events, edited, and put together again.

Rule 1: the pieces joined are the body, byte for byte; a byte order mark is a piece of its own.
Rule 2: an edited payload is written compactly on one `data` line. The other lines of its piece,
        and every other piece, keep their bytes.
Rule 3: sequence numbers are counted anew in place, digits only, and only where the recording
        counted without a hole: else the counter would give every edit away.
Rule 4: chunk boundaries and times stay where the bytes around them stayed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import msgspec

from conformance.core.events import Chunk, Exchange, Frame
from conformance.core.json_values import NOT_JSON, list_at, text_at, value_at
from conformance.core.sse import Parser
from conformance.judging.trace import decode, is_body

SENTINEL: Final = "[DONE]"
_BLOCKS: Final = ("no-data", "unfinished", "too-long")
_LINES: Final = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_END: Final = re.compile(rb"(?:\r\n|\n|\r)?$")
_NUMBER: Final = re.compile(rb'("sequence_number"\s*:\s*)\d+')


@dataclass(frozen=True, slots=True)
class Piece:
    """One event, comment, ignored block or body, with the bytes up to the next one.

    `name` is what an `event:` line says, `payload` the decoded JSON or NOT_JSON.
    """

    raw: bytes
    kind: str = "ignored"
    name: str = ""
    payload: Any = NOT_JSON

    @property
    def type(self) -> str:
        """The type that the payload states; empty where it states none."""
        return text_at(self.payload, "type")

    @property
    def is_sentinel(self) -> bool:
        return self.kind == "event" and self.payload is NOT_JSON and SENTINEL.encode() in self.raw

    @property
    def number(self) -> int | None:
        """The sequence number; None where there is none."""
        number = value_at(self.payload, "sequence_number")
        return number if isinstance(number, int) and not isinstance(number, bool) else None

    def saying(self, payload: Any) -> Piece:
        """The piece with another payload; an event line that named the type names the new one."""
        text = msgspec.json.encode(payload)
        if self.kind == "body":
            return replace(self, raw=text, payload=payload)
        edited = replace(self, raw=_with_data(self.raw, text), payload=payload)
        return edited.named(edited.type) if self.name and self.name == self.type else edited

    def named(self, name: str) -> Piece:
        """The piece with another event line; empty: without one."""
        lines: list[bytes] = [*_LINES.findall(self.raw)]
        kept = [line for line in lines if not line.startswith(b"event")]
        if name:
            kept.insert(0, f"event: {name}".encode() + _line_end(self.raw))
        return replace(self, raw=b"".join(kept), name=name)

    def sentinel(self) -> Piece:
        """A `[DONE]` line written as this piece is."""
        raw = _with_data(self.named("").raw, SENTINEL.encode())
        return Piece(raw, "event")

    def numbered(self, number: int) -> Piece:
        """The piece with another sequence number, and else the same bytes."""
        if number == self.number:
            return self
        payload = {**self.payload, "sequence_number": number}
        raw, found = _NUMBER.subn(rb"\g<1>%d" % number, self.raw)
        return replace(self, raw=raw, payload=payload) if found == 1 else self.saying(payload)


@dataclass(frozen=True, slots=True)
class Stream:
    """The pieces of one exchange. `first` is its first sequence number, None: not counted."""

    exchange: Exchange
    dialect: str
    pieces: tuple[Piece, ...]
    first: int | None = None

    @property
    def body(self) -> bytes:
        return b"".join(piece.raw for piece in self.pieces)

    @property
    def is_body(self) -> bool:
        return any(piece.kind == "body" for piece in self.pieces)

    def events(self) -> Iterator[tuple[int, Piece]]:
        """Events and bodies that hold JSON, with their places."""
        for place, piece in enumerate(self.pieces):
            if piece.payload is not NOT_JSON:
                yield place, piece

    def value_at(self, place: int, *path: str | int) -> Any:
        """What stands at a path of one payload; None where there is nothing."""
        return value_at(self.pieces[place].payload, *path)

    def text_at(self, place: int, *path: str | int) -> str:
        """The string at a path of one payload; empty where there is none."""
        return text_at(self.pieces[place].payload, *path)

    def list_at(self, place: int, *path: str | int) -> list[Any]:
        """The list at a path of one payload; empty where there is none."""
        return list_at(self.pieces[place].payload, *path)

    def typed(self, *types: str) -> list[int]:
        """Places of events of these types."""
        return [place for place, piece in self.events() if piece.type in types]

    def sentinels(self) -> list[int]:
        return [place for place, piece in enumerate(self.pieces) if piece.is_sentinel]

    def with_pieces(self, pieces: Sequence[Piece]) -> Stream:
        return replace(self, pieces=tuple(pieces))

    def dropped(self, *places: int) -> Stream:
        return self.with_pieces([p for n, p in enumerate(self.pieces) if n not in places])

    def inserted(self, place: int, *new: Piece) -> Stream:
        return self.with_pieces([*self.pieces[:place], *new, *self.pieces[place:]])

    def moved(self, place: int, to: int) -> Stream:
        """The piece taken out and put where, before, place `to` was."""
        return self.dropped(place).inserted(to - (to > place), self.pieces[place])

    def changed(self, place: int, payload: Any) -> Stream:
        """Another payload at a place."""
        return self.swapped(place, self.pieces[place].saying(payload))

    def swapped(self, place: int, *new: Piece) -> Stream:
        """Other pieces at a place."""
        return self.with_pieces([*self.pieces[:place], *new, *self.pieces[place + 1 :]])

    def renumbered(self) -> Stream:
        """Sequence numbers counted from the first one of the recording."""
        if self.first is None:
            return self
        count, pieces = self.first, list(self.pieces)
        for place, piece in enumerate(pieces):
            if piece.number is not None:
                pieces[place] = piece.numbered(count)
                count += 1
        return self.with_pieces(pieces)

    def result(self) -> Exchange:
        """The exchange with the pieces as its body."""
        chunks = rechunked(self.exchange.chunks, self.body)
        return replace(self.exchange, chunks=chunks)


def taken_apart(exchange: Exchange, dialect: str) -> Stream:
    """The pieces of a recorded exchange."""
    body = b"".join(chunk.data for chunk in exchange.chunks)
    if is_body(exchange.response, body):
        pieces = [Piece(body, "body", payload=decode(body.decode("utf-8", "replace")))]
    else:
        pieces = list(_pieces(body))
    numbers = [piece.number for piece in pieces if piece.number is not None]
    counted = bool(numbers) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return Stream(exchange, dialect, tuple(pieces), numbers[0] if counted else None)


def _pieces(body: bytes) -> Iterator[Piece]:
    parser = Parser()
    frames = [*parser.feed(body), *parser.close()]
    starts = dict(_starts(frames))
    places = sorted(starts)
    if body and (not places or places[0] > 0):
        yield Piece(body[: places[0]] if places else body)
    for start, stop in pairwise([*places, len(body)]):
        frame = starts[start]
        payload = decode(frame.data) if frame.kind == "event" else NOT_JSON
        yield Piece(body[start:stop], frame.kind, frame.event if frame.named else "", payload)


def _starts(frames: Sequence[Frame]) -> Iterator[tuple[int, Frame]]:
    """Where pieces begin: a line that was told of inside a block begins none."""
    block = sys.maxsize
    for frame in reversed(frames):
        if frame.kind == "event" or frame.event in _BLOCKS:
            block = frame.offset
            yield frame.offset, frame
        elif frame.offset < block:
            yield frame.offset, frame


def _with_data(raw: bytes, text: bytes) -> bytes:
    lines, written = [], False
    for line in _LINES.findall(raw):
        if not line.startswith(b"data"):
            lines.append(line)
        elif not written:
            written = True
            ending = _END.search(line)
            space = b"" if line.startswith(b"data:") and not line.startswith(b"data: ") else b" "
            lines.append(b"data:" + space + text + (ending[0] if ending else b""))
    return b"".join(lines)


def _line_end(raw: bytes) -> bytes:
    ending = re.search(rb"\r\n|\n|\r", raw)
    return ending[0] if ending else b"\n"


def rechunked(chunks: Sequence[Chunk], body: bytes) -> tuple[Chunk, ...]:
    """The new body cut where the old one was cut, as far as the bytes around are the same."""
    old = b"".join(chunk.data for chunk in chunks)
    if old == body:
        return tuple(chunks)
    same = _common(old, body)
    rest = min(len(old), len(body)) - same
    tail = min(_common(old[::-1], body[::-1]), rest)
    longer = len(body) - len(old)
    starts: dict[int, float | None] = {}
    offset = 0
    for chunk in chunks:
        if offset <= same:
            starts.setdefault(offset, chunk.ms)
        elif offset >= len(old) - tail:
            starts.setdefault(offset + longer, chunk.ms)
        offset += len(chunk.data)
    starts.setdefault(0, None)
    places = sorted(place for place in starts if place < len(body)) or [0]
    stops = [*places[1:], len(body)]
    return tuple(Chunk(body[a:b], starts[a]) for a, b in zip(places, stops, strict=True))


def _common(left: bytes, right: bytes) -> int:
    """Length of the common beginning."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
