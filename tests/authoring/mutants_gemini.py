"""Mutants of the suites of generateContent."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, having
from tests.authoring.gemini import array
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Message, Piece

NAME: Final = "gemini.generate/gemini"
TEXT: Final = f"{NAME}/thinking-then-text"
ARRAY: Final = f"{NAME}/array"
SUITE: Final = "wire/gemini"

PART: Final = "candidates.0.content.parts.0"
THOUGHT: Final = having(f"{PART}.thought")


def _spoken(message: Message) -> bool:
    return having(f"{PART}.text")(message) and not THOUGHT(message)


def _as_array(pieces: Pieces) -> list[Piece]:
    """What a gateway sends that drops the query of a path."""
    return [*array([piece.payload for piece in pieces if isinstance(piece, Message)])]


MUTANTS: Final = (
    Mutant(
        f"{SUITE}/framed-as-asked",
        TEXT,
        (_as_array,),
        facts={"content_type": "application/json"},
    ),
    Mutant(
        f"{SUITE}/array-utf8",
        ARRAY,
        (edits.raw(_spoken, b"About", b"Ab\xc3out"),),
        also=("thinking/stream/characters-whole",),
    ),
)
