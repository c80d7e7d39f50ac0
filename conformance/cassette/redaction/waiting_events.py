"""Events that wait until it is known whether a text in them continues as a secret."""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec import Struct, field


class WaitingEvent(Struct, eq=False):
    """An event as it came; `edits` are what will be where."""

    data: bytes
    edits: list[tuple[int, bytes]] = field(default_factory=list)


class TextPiece(NamedTuple):
    """Which part of a text is where in an event."""

    event: WaitingEvent
    start: int
    size: int


GONE: Final = WaitingEvent(b"")
"""An event that was given away: nothing can be changed in it any more."""


def deal_out(pieces: list[TextPiece], start: int, stand_in: bytes) -> None:
    """Puts a stand-in over the texts of events, from byte `start` of the text on."""
    stop, at = start + len(stand_in), 0
    for piece in pieces:
        low, high = max(start, at), min(stop, at + piece.size)
        if low < high and piece.event is not GONE:
            part = stand_in[low - start : high - start]
            piece.event.edits.append((piece.start + low - at, part))
        at += piece.size


def drop_front(pieces: list[TextPiece], size: int) -> None:
    """Takes the first bytes of a text off."""
    while pieces and pieces[0].size <= size:
        size -= pieces.pop(0).size
    if size:
        first = pieces[0]
        pieces[0] = TextPiece(first.event, first.start + size, first.size - size)
