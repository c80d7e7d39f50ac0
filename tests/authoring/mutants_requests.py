"""Mutants of `effort` and `summary/request`, and of padding that was turned off."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, renumber
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_responses import COMPLETED, THINKING_CLOSED
from tests.authoring.pieces import Message, Piece
from tests.authoring.request_streams import KNOTS_TEXT
from tests.authoring.responses import Answer, Item, message, raw_thinking, stream
from tests.authoring.turns import answers

SUMMARIES: Final = "openai.responses/reference/summary-on-request"


def _answer_in_thinking(pieces: Pieces) -> list[Piece]:
    """As above: the text stands in a reasoning item, the message is empty."""
    del pieces
    asked = {"reasoning": {"effort": "none"}}
    items = [*raw_thinking(Item(0, "rs_00"), KNOTS_TEXT), *message(Item(1, "msg_01"), "")]
    return list(stream(Answer("resp_00", "think-1", asked).completed(items, (9, 14, 14))))


def _of_summary(message: Message) -> bool:
    return "summary_index" in message.payload


MUTANTS: Final = (
    Mutant(
        "effort/responses/none-means-none",
        "openai.responses/openai/effort-none",
        (_answer_in_thinking,),
    ),
    Mutant(
        "summary/request/comes-when-asked",
        SUMMARIES,
        turns={
            2: answers(
                edits.drop_all(_of_summary),
                edits.change(THINKING_CLOSED, "item.summary", []),
                edits.change(COMPLETED, "response.output.0.summary", []),
                renumber,
            )
        },
    ),
)
