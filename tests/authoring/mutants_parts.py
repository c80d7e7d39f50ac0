"""Mutants of `wire/responses-parts` and `summary/lifecycle`, and the one of the demonstration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, Step, renumber, typed
from tests.authoring.mutant import DEMO, SAID_ONCE, Mutant
from tests.authoring.mutants_responses import (
    CALL,
    COMPLETED,
    DELTA,
    MESSAGE_ADDED,
    MESSAGE_CLOSED,
    SUMMARY,
    THINKING_CLOSED,
)
from tests.authoring.pieces import Fields, Message, Piece

RAW: Final = "openai.responses/deepseek/raw-thinking"
PART_ADDED: Final = typed("response.content_part.added")
PART_DONE: Final = typed("response.content_part.done")
ARGUMENTS: Final = typed("response.function_call_arguments.delta")
STATED: Final = typed("response.function_call_arguments.done")
SUMMARY_ADDED: Final = typed("response.reasoning_summary_part.added")
SUMMARY_DELTA: Final = typed("response.reasoning_summary_text.delta")
SUMMARY_DONE: Final = typed("response.reasoning_summary_part.done")


def _shorter(text: str) -> str:
    return text[:-1]


def _word_lost(text: str) -> str:
    """The text without its last word."""
    return text.rsplit(" ", 1)[0]


def _marked(text: str) -> str:
    return f"</think>\n\n{text}"


def _second_part(message: Message) -> bool:
    return bool(message.payload.get("summary_index") == 1)


def _of_summary(message: Message) -> bool:
    return "summary_index" in message.payload


def _has_content_index(message: Message) -> bool:
    return "content_index" in message.payload


def _both(
    where: Callable[[Message], bool], index: int, path: str, value: object
) -> tuple[Step, Step]:
    """The same change in the closed item and in its copy in the final output."""
    return (
        edits.change(where, f"item.{path}", value),
        edits.change(COMPLETED, f"response.output.{index}.{path}", value),
    )


def _part_renamed(pieces: Pieces) -> list[Piece]:
    """The part is announced under another name, too."""
    spot = edits.place(pieces, PART_ADDED)
    piece = pieces[spot]
    assert isinstance(piece, Message)
    kind = "response.reasoning_part.added"
    return [*pieces[:spot], Message({**piece.payload, "type": kind}, kind), *pieces[spot:]]


def _summary_moved(pieces: Pieces) -> list[Piece]:
    """The second summary part stands in the message item, as its first part."""
    moved = [p for p in pieces if isinstance(p, Message) and _second_part(p)]
    rest = [p for p in pieces if p not in moved]
    spot = edits.place(rest, MESSAGE_ADDED) + 1
    place = {"item_id": "msg_02", "output_index": 1, "summary_index": 0}
    retold = [Message({**piece.payload, **place}, piece.event) for piece in moved]
    return [*rest[:spot], *retold, *rest[spot:]]


def _said_late(pieces: Pieces) -> list[Piece]:
    """The last arguments come once more, after they were stated."""
    again = pieces[edits.place(pieces, ARGUMENTS, -1)]
    return edits.insert(again, STATED, after=True)(pieces)


def _first_only(parts: list[Fields]) -> list[Fields]:
    return parts[:1]


MUTANTS: Final = (
    Mutant("wire/responses-parts/raw-event-name", RAW, (_part_renamed, renumber)),
    Mutant(
        "wire/responses-parts/content-index",
        SUMMARY,
        (edits.change_all(_has_content_index, "content_index", 1),),
    ),
    Mutant(
        "wire/responses-parts/part-agrees",
        SUMMARY,
        (edits.change(PART_DONE, "part.text", _word_lost),),
    ),
    Mutant(
        "wire/responses-parts/text-item-agrees",
        SUMMARY,
        _both(MESSAGE_CLOSED, 1, "content.0.text", _word_lost),
    ),
    Mutant(
        "wire/responses-parts/raw-item-agrees",
        RAW,
        _both(THINKING_CLOSED, 0, "content.0.text", _word_lost),
    ),
    Mutant(
        "wire/responses-parts/arguments-item-agree",
        CALL,
        _both(
            typed("response.output_item.done", "function_call"),
            1,
            "arguments",
            '{"city":"Bergen"}',
        ),
    ),
    # The last brace is lost everywhere.
    Mutant(
        "wire/responses-parts/arguments-json",
        CALL,
        (
            edits.change(ARGUMENTS, "delta", _shorter, -1),
            edits.change(STATED, "arguments", _shorter),
            *_both(
                typed("response.output_item.done", "function_call"),
                1,
                "arguments",
                _shorter,
            ),
        ),
    ),
    Mutant("wire/responses-parts/arguments-done-last", CALL, (_said_late, renumber)),
    Mutant(
        "summary/lifecycle/part-index",
        SUMMARY,
        (edits.change_all(_second_part, "summary_index", 2),),
        (SAID_ONCE,),
    ),
    Mutant(
        "summary/lifecycle/in-reasoning-item",
        SUMMARY,
        (*_both(THINKING_CLOSED, 0, "summary", _first_only), _summary_moved, renumber),
    ),
    Mutant(
        "summary/lifecycle/part-agrees",
        SUMMARY,
        (edits.change(SUMMARY_DONE, "part.text", _word_lost),),
    ),
    Mutant(
        "summary/lifecycle/item-agrees",
        SUMMARY,
        _both(THINKING_CLOSED, 0, "summary.1.text", _word_lost),
    ),
    # The summary stands in the closed item only.
    Mutant(
        "summary/lifecycle/summary-streamed",
        SUMMARY,
        (edits.drop_all(_of_summary), renumber),
        also=("summary/lifecycle/item-agrees",),
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
