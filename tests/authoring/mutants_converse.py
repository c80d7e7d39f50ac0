"""Mutants of Converse: binary messages, the life of a message, requests and histories."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.core.binary import MESSAGE_TYPE, with_text_header
from tests.authoring import converse as aws
from tests.authoring import edits
from tests.authoring.edits import Pieces, Where, having
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Fields, Message, Piece
from tests.authoring.turns import asks

CLAUDE: Final = "bedrock.converse/claude"
TEXT: Final = f"{CLAUDE}/thinking-then-text"
TOOLS: Final = f"{CLAUDE}/thinking-then-tools"
FAILED: Final = f"{CLAUDE}/exception-in-text"
DISABLED: Final = f"{CLAUDE}/thinking-disabled"
BODY: Final = f"{CLAUDE}/body"
ROUND: Final = f"{CLAUDE}/tool-round"
LEFT_OUT: Final = "bedrock.converse/never-sends-back/second-turn"
SUITE: Final = "wire/converse"
FRAMES: Final = "wire/binary"

SPOKEN: Final = having("delta.text")
ROLE: Final = having("role")


def named(event: str) -> Where:
    return lambda message: message.event == event


RAISED: Final = named("modelStreamErrorException")


def _of_calls(message: Message) -> bool:
    return int(message.payload.get("contentBlockIndex", 0)) > 1


def _flipped(where: Where, at: int) -> edits.Step:
    """One bit of a message is another one: counted from its beginning, or from its end."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = edits.place(pieces, where)
        raw = bytearray(_bytes_of(pieces[spot]))
        raw[at] ^= 1
        return [*pieces[:spot], bytes(raw), *pieces[spot + 1 :]]

    return step


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


def _retyped(where: Where, event: str) -> edits.Step:
    def step(pieces: Pieces) -> list[Piece]:
        spot = edits.place(pieces, where)
        piece = pieces[spot]
        assert isinstance(piece, Message)
        return [*pieces[:spot], replace(piece, event=event), *pieces[spot + 1 :]]

    return step


_MESSAGES: Final = (
    # A proxy that masks texts as they pass leaves the checksum as it was.
    Mutant(f"{FRAMES}/checksums", TEXT, (_flipped(SPOKEN, -8),)),
    Mutant(f"{FRAMES}/headers-readable", TEXT, (_broken_header(SPOKEN),)),
    Mutant(
        f"{FRAMES}/last-message-whole", TEXT, (_half_of_last,), also=(f"{SUITE}/metadata-present",)
    ),
    Mutant(f"{FRAMES}/message-typed", TEXT, (_untyped(SPOKEN),)),
    Mutant(
        f"{FRAMES}/data-is-json",
        TEXT,
        (edits.insert(aws.Framed("ping", "contentBlockDelta"), SPOKEN),),
    ),
    Mutant(
        f"{FRAMES}/utf8",
        TEXT,
        (_bytes_in(SPOKEN, b"About", b"Ab\xc3ut"),),
        also=("thinking/stream/characters-whole",),
    ),
)

_ANSWERS: Final = (
    Mutant(f"{SUITE}/answer-present", TEXT, (lambda _pieces: [],)),
    Mutant(
        f"{SUITE}/framed-as-messages",
        TEXT,
        (_as_events,),
        facts={"content_type": "text/event-stream"},
    ),
    # A gateway tried again and did not hold back what had come before.
    Mutant(f"{SUITE}/start-once", TEXT, (edits.insert(aws.started(), SPOKEN),)),
    # The calls were lost on the way.
    Mutant(f"{SUITE}/tool-stop-has-tool", TOOLS, (edits.drop_all(_of_calls),)),
    Mutant(f"{SUITE}/exception-known", FAILED, (_retyped(RAISED, "overloadedException"),)),
    Mutant(
        f"{SUITE}/exception-is-raised",
        FAILED,
        (_as_plain_event(RAISED),),
        also=(f"{SUITE}/stop-present", "wire/converse-blocks/block-lifecycle"),
    ),
    # The stream goes on as if nothing had happened.
    Mutant(f"{SUITE}/exception-last", FAILED, (edits.insert(aws.stopped(1), RAISED, after=True),)),
)


def _by_text(block: Fields) -> bool:
    """Blocks of text sort before others."""
    return "text" not in block


_REQUESTS: Final = (
    Mutant(
        "effort/converse/disabled-is-silent",
        DISABLED,
        (
            edits.change(SPOKEN, "contentBlockIndex", 1),
            edits.change(SPOKEN, "contentBlockIndex", 1, nth=1),
            edits.change(named("contentBlockStop"), "contentBlockIndex", 1),
            *(
                edits.insert(piece, ROLE, after=True)
                for piece in reversed(aws.thought(0, "Lentils need no soaking.", "soup"))
            ),
        ),
    ),
    # Bytes that were kept as text, and encoded once more.
    Mutant(
        "history/converse/redacted-unchanged",
        ROUND,
        turns={2: asks("messages.1.content.1.reasoningContent.redactedContent", aws.encoded_again)},
    ),
    Mutant(
        "history/converse/reasoning-first",
        ROUND,
        turns={2: asks("messages.1.content", lambda content: sorted(content, key=_by_text))},
    ),
    Mutant(
        "history/converse/never-sent",
        LEFT_OUT,
        turns={
            1: asks(
                "messages.1.content",
                lambda content: [aws.reasoning("Lentils need no soaking.", "soup"), *content],
            )
        },
    ),
)

MUTANTS: Final = (*_MESSAGES, *_ANSWERS, *_REQUESTS)
