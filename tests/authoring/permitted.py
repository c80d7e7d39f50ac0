"""Streams that look odd and are not: what a checker must let pass, and a client must bear.

No rule can fail on these, so no mutant stands beside them; each is named `permits-...`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.authoring.pieces import Fields, Message, Piece, comment


def emptied(events: list[Fields]) -> list[Fields]:
    """Before every other delta comes an empty one."""
    spots = [n for n, event in enumerate(events) if event["type"].endswith(".delta")]
    emptied = list(events)
    for spot in reversed(spots[::2]):
        emptied.insert(spot, {**events[spot], "delta": ""})
    return emptied


def marked(events: list[Fields]) -> list[Fields]:
    """The events with a key of a vendor."""
    return [{**event, "x_vendor": {"shard": 4}} for event in events]


def commented(pieces: tuple[Message, ...] | list[Message]) -> Iterator[Piece]:
    for number, piece in enumerate(pieces):
        if number % 5 == 3:
            yield comment("keep-alive")
        yield _inside(piece) if number % 4 == 2 else piece


def _inside(piece: Message) -> bytes:
    """The event with a comment before its last line end."""
    return piece.encode().removesuffix(b"\n") + b": still here\n\n"
