"""A recorded response as its pieces, edited, and put together again.

Rule 1: the pieces joined are the body, byte for byte; a byte order mark is a separate piece.
Rule 2: every piece that is not edited keeps its bytes.
Rule 3: sequence numbers are counted anew in place, digits only, and only where the recording
        counted without a hole: else the counter would give every edit away.
Rule 4: chunk boundaries and times stay where the bytes around them stayed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import STREAMED, Chunk, Exchange
from conformance.core.json_values import NOT_JSON, Path, cut_at, list_at, put_at, text_at, value_at
from conformance.editing.layout import StreamLayout
from conformance.editing.piece import Piece


class Stream(Struct, frozen=True):
    """The pieces of one exchange; a *place* is the position of a piece.

    `first` is its first sequence number, None: not counted; `restarts` are the bytes of the pieces
    that begin the numbering anew, as every answer but the first does. `framed` is False where the
    framing was not recorded and stands for nothing. Methods that change something give another
    stream.
    """

    exchange: Exchange
    dialect: str
    layout: StreamLayout
    pieces: tuple[Piece, ...]
    first: int | None = None
    framed: bool = True
    restarts: frozenset[bytes] = frozenset()

    @classmethod
    def of(
        cls,
        exchange: Exchange,
        dialect: str,
        layout: StreamLayout,
        pieces: Sequence[Piece],
        *,
        framed: bool = True,
    ) -> Stream:
        """The stream of these pieces, counted if its sequence numbers have no hole."""
        counted = [(n, p.raw) for p in pieces if (n := p.number(layout.number)) is not None]
        first = counted[0][0] if counted else None
        off = [pair for last, pair in pairwise(counted) if pair[0] != last[0] + 1]
        if any(number != first for number, _ in off):
            first, off = None, []
        restarts = frozenset(raw for _, raw in off)
        return cls(exchange, dialect, layout, tuple(pieces), first, framed, restarts)

    @property
    def body(self) -> bytes:
        return b"".join(piece.raw for piece in self.pieces)

    @property
    def is_body(self) -> bool:
        return any(piece.kind == "body" for piece in self.pieces)

    def events(self) -> Iterator[tuple[int, Piece]]:
        """Events, lines and bodies that hold JSON, with their places."""
        for place, piece in enumerate(self.pieces):
            if piece.payload is not NOT_JSON:
                yield place, piece

    def value_at(self, place: int, *path: str | int) -> Any:
        """What is at a path of one payload; None where there is nothing."""
        return value_at(self.pieces[place].payload, *path)

    def text_at(self, place: int, *path: str | int) -> str:
        """The string at a path of one payload; empty where there is none."""
        return text_at(self.pieces[place].payload, *path)

    def list_at(self, place: int, *path: str | int) -> list[Any]:
        """The list at a path of one payload; empty where there is none."""
        return list_at(self.pieces[place].payload, *path)

    def number_at(self, place: int) -> int | None:
        """The sequence number of a piece; None where there is none."""
        return self.pieces[place].number(self.layout.number)

    def numbered(self, place: int, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Another payload with the sequence number of a piece, if it has one."""
        number = self.number_at(place)
        return {**payload, **({} if number is None else {self.layout.number: number})}

    def typed(self, *types: str) -> list[int]:
        """Places of events of these types."""
        return [place for place, piece in self.events() if piece.type in types]

    def holding(self, *path: str | int) -> list[int]:
        """Places of events with something other than null at a path."""
        return [place for place, _ in self.events() if self.value_at(place, *path) is not None]

    def terminals(self) -> list[int]:
        """Places of events that end the response by their type."""
        return self.typed(*self.layout.terminals)

    def sentinels(self) -> list[int]:
        """Places of the sentinel that follows the last event; none where it was not recorded."""
        text = self.layout.sentinel.encode() if self.framed else b""
        found = enumerate(self.pieces) if text else ()
        own = [(n, piece) for n, piece in found if piece.kind in STREAMED]
        return [n for n, piece in own if piece.payload is NOT_JSON and text in piece.raw]

    def with_pieces(self, pieces: Sequence[Piece]) -> Stream:
        return replace(self, pieces=tuple(pieces))

    def without(self, *places: int) -> Stream:
        return self.with_pieces([p for n, p in enumerate(self.pieces) if n not in places])

    def insert(self, place: int, *new: Piece) -> Stream:
        return self.with_pieces([*self.pieces[:place], *new, *self.pieces[place:]])

    def move(self, place: int, to: int) -> Stream:
        """The piece taken out and put where, before, place `to` was."""
        return self.without(place).insert(to - (to > place), self.pieces[place])

    def swap(self, place: int, *new: Piece) -> Stream:
        return self.with_pieces([*self.pieces[:place], *new, *self.pieces[place + 1 :]])

    def with_payload(self, place: int, payload: Any) -> Stream:
        return self.swap(place, self.pieces[place].with_payload(payload))

    def with_value(self, place: int, path: Path, value: Any) -> Stream:
        """Another value at a path of one payload."""
        return self.with_payload(place, put_at(self.pieces[place].payload, path, value))

    def without_value(self, place: int, path: Path) -> Stream:
        """Nothing at a path of one payload."""
        return self.with_payload(place, cut_at(self.pieces[place].payload, path))

    def with_request(self, body: Any) -> Stream:
        """Another request body; the request has to be known."""
        request = self.exchange.request
        assert request is not None
        exchange = replace(self.exchange, request=replace(request, json=body))
        return replace(self, exchange=exchange)

    def renumbered(self) -> Stream:
        """Sequence numbers counted from the first one of the recording."""
        if self.first is None:
            return self
        count, pieces, key = self.first, list(self.pieces), self.layout.number
        for place, piece in enumerate(pieces):
            if piece.number(key) is not None:
                count = self.first if piece.raw in self.restarts else count
                pieces[place] = piece.with_number(key, count)
                count += 1
        return self.with_pieces(pieces)

    def result(self) -> Exchange:
        """The exchange with the pieces as its body."""
        return replace(self.exchange, chunks=rechunked(self.exchange.chunks, self.body))


def rechunked(chunks: Sequence[Chunk], body: bytes) -> tuple[Chunk, ...]:
    """The new body cut where the old one was cut, as far as the bytes around are the same."""
    old = b"".join(chunk.data for chunk in chunks)
    if old == body:
        return tuple(chunks)
    same = _common_length(old, body)
    rest = min(len(old), len(body)) - same
    tail = min(_common_length(old[::-1], body[::-1]), rest)
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


def _common_length(left: bytes, right: bytes) -> int:
    """Length of the common beginning, by halving: comparing slices is fast."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
