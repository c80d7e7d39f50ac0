"""Mutants of `wire/responses` about how items are announced, closed and cut short."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, renumber, typed
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_parts import RAW
from tests.authoring.mutants_responses import (
    CALL,
    COMPLETED,
    DELTA,
    INCOMPLETE,
    MESSAGE_ADDED,
    MESSAGE_CLOSED,
    SUMMARY,
    THINKING_CLOSED,
)
from tests.authoring.pieces import Piece, at
from tests.authoring.responses import Item, call, stream

CALL_ADDED: Final = typed("response.output_item.added", "function_call")
CUT: Final = typed("response.incomplete")
REASON: Final = "response.incomplete_details.reason"
FIRST_WORDS: Final = {"type": "output_text", "text": "They are", "annotations": []}
LATE: Final = stream(call(Item(2, "fc_03"), "get_map", "{}", ["{}"]))


def _called_after_the_cut(pieces: Pieces) -> list[Piece]:
    """An item is announced although the one before it ran out of tokens."""
    spot = edits.place(pieces, CUT)
    late = at(LATE[-1].payload, "item")
    end = edits.change(CUT, "response.output", lambda output: [*output, late])(pieces[spot:])
    return [*pieces[:spot], *LATE, *end]


MUTANTS: Final = (
    Mutant(
        "wire/responses/in-progress-next",
        SUMMARY,
        (edits.move(typed("response.in_progress"), by=1), renumber),
    ),
    Mutant(
        "wire/responses/no-event-id", SUMMARY, (edits.raw(DELTA, b"event:", b"id: 19\nevent:"),)
    ),
    Mutant("wire/responses/announced-whole", SUMMARY, (edits.remove(MESSAGE_ADDED, "item.role"),)),
    # Clients that add the deltas to what was announced have the arguments twice.
    Mutant(
        "wire/responses/arguments-start-empty",
        CALL,
        (edits.change(CALL_ADDED, "item.arguments", '{"city":"Oslo"}'),),
    ),
    # The item was announced when its first words were there, and they come once more as a delta.
    Mutant(
        "wire/responses/item-announced-empty",
        SUMMARY,
        (edits.change(MESSAGE_ADDED, "item.content", [FIRST_WORDS]),),
    ),
    Mutant(
        "wire/responses/item-status",
        SUMMARY,
        (
            edits.change(MESSAGE_CLOSED, "item.status", "in_progress"),
            edits.change(COMPLETED, "response.output.1.status", "in_progress"),
        ),
    ),
    Mutant("wire/responses/incomplete-last", INCOMPLETE, (_called_after_the_cut, renumber)),
    # The cut answer is sold as a whole one.
    Mutant(
        "wire/responses/incomplete-response",
        INCOMPLETE,
        (
            edits.change(CUT, "response.incomplete_details", None),
            edits.change(CUT, "response.status", "completed"),
            edits.retype(CUT, "response.completed"),
        ),
    ),
    Mutant("wire/responses/incomplete-reason", INCOMPLETE, (edits.change(CUT, REASON, "length"),)),
    Mutant(
        "wire/responses-parts/raw-part-type",
        RAW,
        (
            edits.change(THINKING_CLOSED, "item.content.0.type", "output_text"),
            edits.change(COMPLETED, "response.output.0.content.0.type", "output_text"),
        ),
    ),
)
