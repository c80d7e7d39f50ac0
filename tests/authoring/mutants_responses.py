"""Mutants of `wire/responses`: the life of a response and its items."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, done, renumber, typed
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import DONE, Message, Piece

SUMMARY: Final = "openai.responses/demo/summary"
HIDDEN: Final = "openai.responses/openai/reasoning-not-shown"
CALL: Final = "openai.responses/openai/summary-then-call"
INCOMPLETE: Final = "openai.responses/openai/incomplete-in-text"
REFUSAL: Final = "openai.responses/openai/refusal"
OVERLAP: Final = "openai.responses/openrouter/overlapping-items"

CREATED: Final = typed("response.created")
COMPLETED: Final = typed("response.completed")
ADDED: Final = typed("response.output_item.added")
MESSAGE_ADDED: Final = typed("response.output_item.added", "message")
MESSAGE_CLOSED: Final = typed("response.output_item.done", "message")
THINKING_CLOSED: Final = typed("response.output_item.done", "reasoning")
CALL_CLOSED: Final = typed("response.output_item.done", "function_call")
DELTA: Final = typed("response.output_text.delta")


def _numbered_later(message: Message) -> bool:
    return bool(message.payload["sequence_number"] > 9)


def _of_item(message: Message) -> bool:
    return "output_index" in message.payload


def _of_message(message: Message) -> bool:
    return bool(message.payload.get("output_index") == 1)


def _reversed(output: list[Any]) -> list[Any]:
    return output[::-1]


def _reasoning_last(pieces: Pieces) -> list[Piece]:
    """The reasoning item comes after the message, and the indices with it."""
    spots = [edits.place(pieces, where) for where in (ADDED, THINKING_CLOSED)]
    late = [pieces[spot] for spot in spots]
    rest = [piece for piece in pieces if piece not in late]
    reordered = [*rest[:-1], *late, rest[-1]]
    return edits.change_all(_of_item, "output_index", lambda index: 1 - index)(reordered)


def _plus_one(value: int) -> int:
    return value + 1


ANNOTATION: Final = Message(
    {
        "type": "response.output_text.annotation.added",
        "item_id": "msg_02",
        "output_index": 1,
        "content_index": 0,
        "annotation_index": 0,
        "annotation": {"type": "url_citation", "url": "https://example.org/dusk"},
        "sequence_number": 0,
    },
    "response.output_text.annotation.added",
)
KEEPALIVE: Final = Message({"type": "keepalive", "sequence_number": 0}, "keepalive")

MUTANTS: Final = (
    Mutant("wire/responses/event-name-agrees", SUMMARY, (edits.rename(DELTA, "response.delta"),)),
    Mutant("wire/responses/event-lines", SUMMARY, (edits.rename(DELTA, ""),)),
    Mutant("wire/responses/created-first", SUMMARY, (edits.move(CREATED, by=1), renumber)),
    Mutant("wire/responses/created-once", SUMMARY, (edits.duplicate(CREATED), renumber)),
    Mutant("wire/responses/terminal-present", SUMMARY, (edits.drop(COMPLETED),)),
    Mutant("wire/responses/terminal-once", SUMMARY, (edits.duplicate(COMPLETED), renumber)),
    Mutant(
        "wire/responses/terminal-last",
        SUMMARY,
        (edits.insert(KEEPALIVE, COMPLETED, after=True), renumber),
    ),
    Mutant("wire/responses/no-sentinel", SUMMARY, (edits.insert(DONE, COMPLETED, after=True),)),
    Mutant("wire/responses/sentinel-present", OVERLAP, (edits.drop(done),)),
    # A gateway forwards the line of the upstream and adds its own.
    Mutant("wire/responses/sentinel-once", OVERLAP, (edits.duplicate(done),)),
    Mutant(
        "wire/responses/status-agrees",
        SUMMARY,
        (edits.change(COMPLETED, "response.status", "in_progress"),),
    ),
    Mutant("wire/responses/response-fields", SUMMARY, (edits.remove(CREATED, "response.output"),)),
    Mutant(
        "wire/responses/item-stated",
        CALL,
        (edits.remove(CALL_CLOSED, "item.type"),),
        ("wire/responses/output-agrees",),
    ),
    Mutant(
        "wire/responses/object-said",
        SUMMARY,
        (edits.change(COMPLETED, "response.object", "chat.completion"),),
    ),
    Mutant(
        "wire/responses/response-id", SUMMARY, (edits.change(COMPLETED, "response.id", "resp_99"),)
    ),
    Mutant(
        "wire/responses/sequence-present", SUMMARY, (edits.remove(COMPLETED, "sequence_number"),)
    ),
    Mutant(
        "wire/responses/sequence-from-zero",
        SUMMARY,
        (edits.change_all(_numbered_later, "sequence_number", _plus_one),),
    ),
    Mutant(
        "wire/responses/sequence-rises",
        "openai.responses/openai/resumed",
        (edits.change_all(_numbered_later, "sequence_number", _plus_one),),
    ),
    # The first part of the message is sent before the message is announced.
    Mutant("wire/responses/item-announced", SUMMARY, (edits.move(MESSAGE_ADDED, by=1), renumber)),
    Mutant(
        "wire/responses/item-index-known",
        REFUSAL,
        (edits.remove(typed("response.refusal.delta"), "output_index", 1),),
    ),
    # Announced twice: an index that is used again is no longer contiguous, either.
    Mutant(
        "wire/responses/item-index-unused",
        "openai.responses/xai/parallel-searches",
        (edits.duplicate(MESSAGE_ADDED), renumber),
        also=("wire/responses/item-index-contiguous",),
    ),
    Mutant(
        "wire/responses/item-index-contiguous",
        SUMMARY,
        (edits.change_all(_of_message, "output_index", 2),),
    ),
    Mutant("wire/responses/item-id", SUMMARY, (edits.change(DELTA, "item_id", "msg_99"),)),
    Mutant(
        "wire/responses/item-type", CALL, (edits.change(ADDED, "item.type", "custom_tool_call", 1),)
    ),
    Mutant(
        "wire/responses/item-closed",
        SUMMARY,
        (edits.drop(MESSAGE_CLOSED), edits.remove(COMPLETED, "response.output.1"), renumber),
    ),
    Mutant(
        "wire/responses/item-done-last",
        SUMMARY,
        (edits.insert(ANNOTATION, MESSAGE_CLOSED, after=True), renumber),
    ),
    Mutant("wire/responses/items-serial", SUMMARY, (edits.move(THINKING_CLOSED, by=1), renumber)),
    # The reasoning item comes when the answer is complete.
    Mutant(
        "wire/responses/reasoning-before-message",
        HIDDEN,
        (_reasoning_last, edits.change(COMPLETED, "response.output", _reversed), renumber),
    ),
    Mutant(
        "wire/responses/output-agrees",
        SUMMARY,
        (edits.change(COMPLETED, "response.output.1.content.0.text", "They are lit."),),
    ),
    # The closing response tells another summary than the item did.
    Mutant(
        "wire/responses/interrupted-output-kept",
        INCOMPLETE,
        (
            edits.change(
                typed("response.incomplete"), "response.output.0.summary.0.text", "**Counting**"
            ),
        ),
    ),
    Mutant(
        "wire/responses/interrupted-items-kept",
        INCOMPLETE,
        (edits.remove(typed("response.incomplete"), "response.output.1"),),
        also=("wire/responses/interrupted-output-kept",),
    ),
    Mutant(
        "wire/responses/usage-present", SUMMARY, (edits.change(COMPLETED, "response.usage", None),)
    ),
    Mutant(
        "wire/responses/thinking-counted",
        SUMMARY,
        (edits.change(COMPLETED, "response.usage.output_tokens_details.reasoning_tokens", 0),),
    ),
    Mutant(
        "wire/responses/thinking-within-output",
        SUMMARY,
        (edits.change(COMPLETED, "response.usage.output_tokens_details.reasoning_tokens", 28),),
    ),
)
