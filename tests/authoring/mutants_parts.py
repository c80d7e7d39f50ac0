"""Mutants of `wire/responses-parts` and `summary/lifecycle`, and the one of the demonstration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, Step, renumber, typed
from tests.authoring.mutant import DEMO, Mutant
from tests.authoring.mutants_responses import (
    COMPLETED,
    DELTA,
    MESSAGE_ADDED,
    MESSAGE_CLOSED,
    SUMMARY,
    THINKING_CLOSED,
)
from tests.authoring.pieces import Fields, Message, Piece

PART_ADDED: Final = typed("response.content_part.added")
PART_DONE: Final = typed("response.content_part.done")
SUMMARY_ADDED: Final = typed("response.reasoning_summary_part.added")
SUMMARY_DELTA: Final = typed("response.reasoning_summary_text.delta")
SUMMARY_DONE: Final = typed("response.reasoning_summary_part.done")


def _marked(text: str) -> str:
    return f"</think>\n\n{text}"


def _second_part(message: Message) -> bool:
    return bool(message.payload.get("summary_index") == 1)


def _both(
    where: Callable[[Message], bool], index: int, path: str, value: object
) -> tuple[Step, Step]:
    """The same change in the closed item and in its copy in the final output."""
    return (
        edits.change(where, f"item.{path}", value),
        edits.change(COMPLETED, f"response.output.{index}.{path}", value),
    )


def _summary_moved(pieces: Pieces) -> list[Piece]:
    """The second summary part stands in the message item, as its first part."""
    moved = [p for p in pieces if isinstance(p, Message) and _second_part(p)]
    rest = [p for p in pieces if p not in moved]
    spot = edits.place(rest, MESSAGE_ADDED) + 1
    place = {"item_id": "msg_02", "output_index": 1, "summary_index": 0}
    retold = [Message({**piece.payload, **place}, piece.event) for piece in moved]
    return [*rest[:spot], *retold, *rest[spot:]]


def _first_only(parts: list[Fields]) -> list[Fields]:
    return parts[:1]


MUTANTS: Final = (
    Mutant(
        "summary/lifecycle/in-reasoning-item",
        SUMMARY,
        (*_both(THINKING_CLOSED, 0, "summary", _first_only), _summary_moved, renumber),
    ),
    # The answer begins with the marker that ended the thinking, wherever it is stated.
    Mutant(
        "stripping/visible-text/no-markers",
        SUMMARY,
        (
            edits.change(DELTA, "delta", _marked),
            edits.change(typed("response.output_text.done"), "text", _marked),
            edits.change(PART_DONE, "part.text", _marked),
            *_both(MESSAGE_CLOSED, 1, "content.0.text", _marked),
        ),
        name=DEMO,
    ),
)
