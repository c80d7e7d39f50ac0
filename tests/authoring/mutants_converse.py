"""Mutants of Converse: binary messages, the life of a message, requests and histories."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.core.binary import MESSAGE_TYPE, with_text_header
from tests.authoring import converse as aws
from tests.authoring import edits
from tests.authoring.edits import Pieces, Where, having
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Message, Piece

CLAUDE: Final = "bedrock.converse/claude"
TEXT: Final = f"{CLAUDE}/thinking-then-text"
FAILED: Final = f"{CLAUDE}/exception-in-text"
SUITE: Final = "wire/converse"
FRAMES: Final = "wire/binary"

SPOKEN: Final = having("delta.text")


def named(event: str) -> Where:
    return lambda message: message.event == event


RAISED: Final = named("modelStreamErrorException")


def _bytes_of(piece: Piece) -> bytes:
    return piece if isinstance(piece, bytes) else piece.encode()


def _untyped(where: Where) -> edits.Step:
    """A message does not say whether it is an event."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = edits.place(pieces, where)
        raw = with_text_header(_bytes_of(pieces[spot]), MESSAGE_TYPE, "")
        return [*pieces[:spot], raw, *pieces[spot + 1 :]]

    return step


def _broken_header(where: Where) -> edits.Step:
    """A header of a type that nobody knows, under checksums that are right."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = edits.place(pieces, where)
        raw = _bytes_of(pieces[spot]).replace(b":content-type\x07", b":content-type\x4b", 1)
        return [*pieces[:spot], aws.resealed(raw), *pieces[spot + 1 :]]

    return step


def _bytes_in(where: Where, old: bytes, new: bytes) -> edits.Step:
    """Other bytes of the same length in one message, under checksums that are right."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = edits.place(pieces, where)
        raw = _bytes_of(pieces[spot]).replace(old, new, 1)
        return [*pieces[:spot], aws.resealed(raw), *pieces[spot + 1 :]]

    return step


def _half_of_last(pieces: Pieces) -> list[Piece]:
    return [*pieces[:-1], _bytes_of(pieces[-1])[:40]]


def _as_events(pieces: Pieces) -> list[Piece]:
    """What a gateway makes of messages that speaks event streams in all its APIs."""
    return [Message({p.event: p.payload}) if isinstance(p, Message) else p for p in pieces]


def _as_plain_event(where: Where) -> edits.Step:
    """An exception comes as if it were an event."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = edits.place(pieces, where)
        piece = pieces[spot]
        assert isinstance(piece, aws.Framed)
        return [*pieces[:spot], replace(piece, plain=True), *pieces[spot + 1 :]]

    return step


_MESSAGES: Final = (
    Mutant(f"{FRAMES}/headers-readable", TEXT, (_broken_header(SPOKEN),)),
    Mutant(
        f"{FRAMES}/last-message-whole", TEXT, (_half_of_last,), also=(f"{SUITE}/metadata-present",)
    ),
    Mutant(f"{FRAMES}/message-typed", TEXT, (_untyped(SPOKEN),)),
    Mutant(
        f"{FRAMES}/utf8",
        TEXT,
        (_bytes_in(SPOKEN, b"About", b"Ab\xc3ut"),),
        also=("thinking/stream/characters-whole",),
    ),
)

_ANSWERS: Final = (
    Mutant(
        f"{SUITE}/framed-as-messages",
        TEXT,
        (_as_events,),
        facts={"content_type": "text/event-stream"},
    ),
    Mutant(
        f"{SUITE}/exception-is-raised",
        FAILED,
        (_as_plain_event(RAISED),),
        also=(f"{SUITE}/stop-present", "wire/converse-blocks/block-lifecycle"),
    ),
)


_REQUESTS: Final = ()

MUTANTS: Final = (*_MESSAGES, *_ANSWERS, *_REQUESTS)
