"""Mutants of `wire/responses` about how items are announced, closed and cut short."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, renumber, typed
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_responses import INCOMPLETE
from tests.authoring.pieces import Piece, at
from tests.authoring.responses import Item, call, stream

CUT: Final = typed("response.incomplete")
LATE: Final = stream(call(Item(2, "fc_03"), "get_map", "{}", ["{}"]))


def _called_after_the_cut(pieces: Pieces) -> list[Piece]:
    """An item is announced although the one before it ran out of tokens."""
    spot = edits.place(pieces, CUT)
    late = at(LATE[-1].payload, "item")
    end = edits.change(CUT, "response.output", lambda output: [*output, late])(pieces[spot:])
    return [*pieces[:spot], *LATE, *end]


MUTANTS: Final = (
    Mutant("wire/responses/incomplete-last", INCOMPLETE, (_called_after_the_cut, renumber)),
)
