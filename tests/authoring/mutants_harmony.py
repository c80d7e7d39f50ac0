"""Mutants of the suites of harmony."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, Step, Where
from tests.authoring.harmony import TOOL, Token, final
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Piece

TEXT: Final = "harmony/raw/thinking-then-text"
CALL: Final = "harmony/raw/preamble-then-call"
SUITE: Final = "wire/harmony"
ADDRESSED: Final = f"commentary to={TOOL}"


def token(text: str) -> Where:
    """A marker or text that is just this."""
    return lambda piece: bool(piece.payload == text)


def _instead(old: str, new: str, nth: int = 0) -> Step:
    """Another token in the place of one."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = edits.place(pieces, token(old), nth)
        return [*pieces[:spot], Token(new), *pieces[spot + 1 :]]

    return step


def _without(*texts: str) -> Step:
    """The first of each of these tokens is missing."""

    def step(pieces: Pieces) -> list[Piece]:
        for text in texts:
            pieces = edits.drop(token(text))(pieces)
        return list(pieces)

    return step


def _goes_on(pieces: Pieces) -> list[Piece]:
    """The model makes up what the tool said."""
    return [*pieces[:-1], Token("<|end|>"), *final("Yes, at nine.")]


def _thinks_only(pieces: Pieces) -> list[Piece]:
    return [*pieces[: edits.place(pieces, token("<|end|>"))], Token("<|return|>")]


_WIRE: Final = (
    Mutant(f"{SUITE}/call-ends-call", CALL, (_goes_on,)),
    Mutant(
        f"{SUITE}/call-addressed",
        CALL,
        (_instead(ADDRESSED, "commentary"), _without(" ", "<|constrain|>", "json")),
    ),
    Mutant(f"{SUITE}/return-ends-final", TEXT, (_thinks_only,)),
)
_REQUESTS: Final = ()
MUTANTS: Final = (*_WIRE, *_REQUESTS)
