"""Edits of a stream, each as small as a defect: drop, duplicate, move, change, insert.

A `Where` picks pieces, a `Step` makes a new list of them. Steps leave sequence numbers alone;
`renumber` gives new ones, as a server would that never saw the edit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tests.authoring.pieces import Message, Piece, at, cut, put

Pieces = Sequence[Piece]
Where = Callable[[Message], bool]
Step = Callable[[Pieces], list[Piece]]


def typed(kind: str, item: str = "") -> Where:
    """Events of that type, and if named only those about items of a type."""

    def where(message: Message) -> bool:
        if item and at(message.payload, "item.type") != item:
            return False
        return bool(at(message.payload, "type") == kind)

    return where


def having(path: str) -> Where:
    """Events in which something stands at a path: neither nothing nor empty."""
    return lambda message: bool(at(message.payload, path))


def delta(name: str) -> Where:
    """Chunks whose first choice says something in that field."""
    return having(f"choices.0.delta.{name}")


def place(pieces: Pieces, where: Where, nth: int = 0) -> int:
    """Where the nth such piece stands; a negative nth counts from the end."""
    found = [n for n, piece in enumerate(pieces) if isinstance(piece, Message) and where(piece)]
    return found[nth]


def drop(where: Where, nth: int = 0, count: int = 1) -> Step:
    """The piece is missing, and those after it that `count` names."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = place(pieces, where, nth)
        return [*pieces[:spot], *pieces[spot + count :]]

    return step


def drop_all(where: Where) -> Step:
    return lambda pieces: [p for p in pieces if isinstance(p, bytes) or not where(p)]


def duplicate(where: Where, nth: int = 0) -> Step:
    def step(pieces: Pieces) -> list[Piece]:
        spot = place(pieces, where, nth)
        return [*pieces[: spot + 1], *pieces[spot:]]

    return step


def move(where: Where, nth: int = 0, *, by: int, count: int = 1) -> Step:
    """The piece, and those after it that `count` names, that many places later, or earlier."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = place(pieces, where, nth)
        rest = [*pieces[:spot], *pieces[spot + count :]]
        return [*rest[: spot + by], *pieces[spot : spot + count], *rest[spot + by :]]

    return step


def insert(new: Piece, where: Where, nth: int = 0, *, after: bool = False) -> Step:
    """A new piece before another, or after it."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = place(pieces, where, nth) + after
        return [*pieces[:spot], new, *pieces[spot:]]

    return step


def insert_like(payload: Any, where: Where, nth: int = 0, *, after: bool = False) -> Step:
    """As `insert`, an event written as that one is; `{data, event}` gives it a name, too."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = place(pieces, where, nth)
        new = _written_as(pieces[spot], payload)
        return [*pieces[: spot + after], new, *pieces[spot + after :]]

    return step


def become(where: Where, payload: Any, nth: int = 0) -> Step:
    """Another event in the place of one, written as that was."""
    return _edit(where, nth, lambda message: _written_as(message, payload))


def _written_as(piece: Piece, payload: Any) -> Message:
    assert isinstance(piece, Message)
    named = isinstance(payload, dict) and payload.keys() == {"data", "event"}
    data, event = (payload["data"], payload["event"]) if named else (payload, "")
    return replace(piece, payload=data, event=event)


def change(where: Where, path: str, value: Any, nth: int = 0) -> Step:
    """Another value at a path of one event; a function makes it from the old one."""
    return _edit(where, nth, lambda message: changed(message, path, value))


def change_all(where: Where, path: str, value: Any) -> Step:
    """As `change`, in every such event."""

    def step(pieces: Pieces) -> list[Piece]:
        return [
            changed(piece, path, value) if isinstance(piece, Message) and where(piece) else piece
            for piece in pieces
        ]

    return step


def changed(message: Message, path: str, value: Any) -> Message:
    """The message with another value at a path of its payload."""
    new = value(at(message.payload, path)) if callable(value) else value
    return replace(message, payload=put(message.payload, path, new))


def remove(where: Where, path: str, nth: int = 0) -> Step:
    """Nothing at a path of one event."""
    return _edit(where, nth, lambda message: replace(message, payload=cut(message.payload, path)))


def rename(where: Where, event: str, nth: int = 0) -> Step:
    """Another event line, or none; the payload stays."""
    return _edit(where, nth, lambda message: replace(message, event=event))


def retype(where: Where, kind: str, nth: int = 0) -> Step:
    """Another type, in the payload and on the event line."""

    def edited(message: Message) -> Message:
        return Message({**message.payload, "type": kind}, kind if message.event else "")

    return _edit(where, nth, edited)


def raw(where: Where, old: bytes, new: bytes, nth: int = 0) -> Step:
    """Other bytes in one event, as no JSON library would write them."""
    return _edit(where, nth, lambda message: message.encode().replace(old, new, 1))


def rewrite(where: Where, edited: Callable[[Message], Piece], nth: int = 0) -> Step:
    """Whatever a function of the writer makes of one event."""
    return _edit(where, nth, edited)


def keep(where: Where, nth: int = 0) -> Step:
    """Nothing after the piece: the stream was cut there."""
    return lambda pieces: list(pieces[: place(pieces, where, nth) + 1])


def renumber(pieces: Pieces) -> list[Piece]:
    """sequence_number counted anew, from the lowest there is."""
    numbers = [n for p in pieces if (n := _number(p)) is not None]
    following = iter(range(min(numbers), min(numbers) + len(numbers)))
    return [
        piece
        if isinstance(piece, bytes) or _number(piece) is None
        else replace(piece, payload={**piece.payload, "sequence_number": next(following)})
        for piece in pieces
    ]


def _number(piece: Piece) -> int | None:
    number = None if isinstance(piece, bytes) else at(piece.payload, "sequence_number")
    return number if isinstance(number, int) else None


def _edit(where: Where, nth: int, edited: Callable[[Message], Piece]) -> Step:
    def step(pieces: Pieces) -> list[Piece]:
        spot = place(pieces, where, nth)
        piece = pieces[spot]
        assert isinstance(piece, Message)
        return [*pieces[:spot], edited(piece), *pieces[spot + 1 :]]

    return step
