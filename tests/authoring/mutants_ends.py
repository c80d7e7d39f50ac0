"""Mutants of ends that contradict each other: an error, and a success beside it or after it."""

from __future__ import annotations

from typing import Final

from tests.authoring.edits import Pieces
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Piece


def _named_twice(pieces: Pieces) -> list[Piece]:
    """A proxy writes its own name of the model in front of the other."""
    (body,) = pieces
    assert isinstance(body, bytes)
    return [body.replace(b'"model":', b'"model":"think-0","model":', 1)]


MUTANTS: Final = (
    Mutant(
        "wire/json/keys-unique",
        "openai.chat/deepseek/body",
        (_named_twice,),
        name="wire/json/keys-unique-in-body",
    ),
)
