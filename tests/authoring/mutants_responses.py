"""Mutants of `wire/responses`: the life of a response and its items."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, renumber, typed
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Message, Piece

SUMMARY: Final = "openai.responses/demo/summary"
HIDDEN: Final = "openai.responses/openai/reasoning-not-shown"
INCOMPLETE: Final = "openai.responses/openai/incomplete-in-text"

CREATED: Final = typed("response.created")
COMPLETED: Final = typed("response.completed")
ADDED: Final = typed("response.output_item.added")
MESSAGE_ADDED: Final = typed("response.output_item.added", "message")
MESSAGE_CLOSED: Final = typed("response.output_item.done", "message")
THINKING_CLOSED: Final = typed("response.output_item.done", "reasoning")
DELTA: Final = typed("response.output_text.delta")


def _of_item(message: Message) -> bool:
    return "output_index" in message.payload


def _reversed(output: list[Any]) -> list[Any]:
    return output[::-1]


def _reasoning_last(pieces: Pieces) -> list[Piece]:
    """The reasoning item comes after the message, and the indices with it."""
    spots = [edits.place(pieces, where) for where in (ADDED, THINKING_CLOSED)]
    late = [pieces[spot] for spot in spots]
    rest = [piece for piece in pieces if piece not in late]
    reordered = [*rest[:-1], *late, rest[-1]]
    return edits.change_all(_of_item, "output_index", lambda index: 1 - index)(reordered)


KEEPALIVE: Final = Message({"type": "keepalive", "sequence_number": 0}, "keepalive")

MUTANTS: Final = (
    # The reasoning item comes when the answer is complete.
    Mutant(
        "wire/responses/reasoning-before-message",
        HIDDEN,
        (_reasoning_last, edits.change(COMPLETED, "response.output", _reversed), renumber),
    ),
)
