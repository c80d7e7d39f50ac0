"""Mutants of `wire/responses-items`, and of what bodies and closing events state of items."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, renumber
from tests.authoring.mutant import SAID_ONCE, Mutant
from tests.authoring.mutants_responses import MESSAGE_ADDED
from tests.authoring.pieces import Message, Piece, at

UNSTATED: Final = "openai.responses/transformers/raw-without-parts"


def _is_raw(message: Message) -> bool:
    return str(at(message.payload, "type")).startswith("response.reasoning_text.")


def _under_message(pieces: Pieces) -> list[Piece]:
    """The thinking comes under the message, once that is announced."""
    place = {"output_index": 1, "item_id": "msg_02", "content_index": 1}
    moved = [p for p in pieces if isinstance(p, Message) and _is_raw(p)]
    rest = [p for p in pieces if p not in moved]
    spot = edits.place(rest, MESSAGE_ADDED) + 1
    retold = [Message({**piece.payload, **place}, piece.event) for piece in moved]
    return [*rest[:spot], *retold, *rest[spot:]]


MUTANTS: Final = (
    Mutant(
        "wire/responses-items/thinking-in-reasoning",
        UNSTATED,
        (_under_message, renumber),
        (SAID_ONCE,),
    ),
)
