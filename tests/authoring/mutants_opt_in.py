"""Mutants of `stripping/opt-in`, `discovery/models` and `wire/timing`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tests.authoring import edits
from tests.authoring.draft import Draft
from tests.authoring.edits import Pieces
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_wire import CONTENT
from tests.authoring.pieces import Piece, at
from tests.authoring.turns import answers, both

SAID: Final = edits.delta("content")

GATEWAY: Final = "openai.chat/reference/opt-in-through-gateway"


def _thinking_hidden(pieces: Pieces) -> list[Piece]:
    """Everything up to the close marker is left out."""
    start = edits.place(pieces, SAID)
    end = edits.place(pieces, lambda message: at(message.payload, CONTENT) == "</think>")
    return [*pieces[:start], *pieces[end + 1 :]]


def _not_opted_in(draft: Draft) -> Draft:
    return replace(draft, headers=())


MUTANTS: Final = (
    # Nobody told the server that the client opted in, so the client sees no thinking, either.
    Mutant(
        "stripping/opt-in/opt-in-crosses",
        GATEWAY,
        also=("stripping/opt-in/shown-when-asked",),
        turns={1: answers(_thinking_hidden), 2: both(_not_opted_in, answers(_thinking_hidden))},
    ),
)
