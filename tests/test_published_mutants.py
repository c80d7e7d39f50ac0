"""Mutants of a four-part summary stream with which other checkers were measured.

On a real stream of this shape the OpenAI SDK caught 4 of 32, the Open Responses schemas 4,
llm-comply 9 and vLLM's stack check 12. Here each is killed, by the rules that stand beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from conformance.recordings.api import check_chunks
from conformance.rules.verdicts import Level
from tests.authoring import edits
from tests.authoring.catalogue import good
from tests.authoring.edits import Pieces, Step, renumber, typed
from tests.authoring.pieces import Message, Piece, cut, encoded

BASE = "openai.responses/openai/summary-four-parts"
"""Thinking in four parts at output index 0, the message at index 1."""
SUMMARY_ADDED = typed("response.reasoning_summary_part.added")
SUMMARY_DELTA = typed("response.reasoning_summary_text.delta")
SUMMARY_TEXT = typed("response.reasoning_summary_text.done")
SUMMARY_DONE = typed("response.reasoning_summary_part.done")
CREATED = typed("response.created")
COMPLETED = typed("response.completed")
ADDED = typed("response.output_item.added")
THINKING_CLOSED = typed("response.output_item.done", "reasoning")
MESSAGE_CLOSED = typed("response.output_item.done", "message")
PART_ADDED = typed("response.content_part.added")
DELTA = typed("response.output_text.delta")
KEEPALIVE = Message({"type": "keepalive", "sequence_number": 0}, "keepalive")


@cache
def pieces() -> tuple[Piece, ...]:
    return next(draft.pieces for draft in good() if draft.name == BASE)


def summary_index_per_delta(before: Pieces) -> list[Piece]:
    deltas = [p for p in before if isinstance(p, Message) and SUMMARY_DELTA(p)]
    indices = iter(range(len(deltas)))
    return edits.change_all(SUMMARY_DELTA, "summary_index", lambda _: next(indices))(before)


def ids_rotate(before: Pieces) -> list[Piece]:
    numbers = iter(range(len(before)))
    return edits.change_all(
        edits.having("item_id"), "item_id", lambda old: f"{old}-{next(numbers)}"
    )(before)


def thinking_late(before: Pieces) -> list[Piece]:
    """The whole reasoning item comes after the message; the indices follow."""
    swapped = edits.change_all(has_index, "output_index", lambda index: 1 - index)(before)
    first, last = edits.place(swapped, ADDED), edits.place(swapped, THINKING_CLOSED) + 1
    end = edits.place(swapped, COMPLETED)
    moved = swapped[:first] + swapped[last:end] + swapped[first:last] + swapped[end:]
    return edits.change(COMPLETED, "response.output", lambda items: items[::-1])(moved)


def thinking_closed_late(before: Pieces) -> list[Piece]:
    """The reasoning item is open until the message is closed."""
    by = edits.place(before, MESSAGE_CLOSED) - edits.place(before, THINKING_CLOSED)
    return edits.move(THINKING_CLOSED, by=by)(before)


def without_numbers(before: Pieces) -> list[Piece]:
    return [
        Message(cut(p.payload, "sequence_number"), p.event) if isinstance(p, Message) else p
        for p in before
    ]


def has_index(message: Message) -> bool:
    return "output_index" in message.payload


def late(message: Message) -> bool:
    return bool(message.payload["sequence_number"] > 20)


def everything(message: Message) -> bool:
    return "type" in message.payload


W, P, S = "wire/responses", "wire/responses-parts", "summary/lifecycle"
SWAP = edits.move(SUMMARY_DELTA, 2, by=1)
DOUBLE = edits.duplicate(SUMMARY_DELTA, 2)

# The table that is known names 30 of the 32; moved and doubled deltas stand here in both spellings.
MUTANTS: dict[str, tuple[Sequence[Step], Sequence[str]]] = {
    "created dropped": ((edits.drop(CREATED), renumber), (f"{W}/created-first",)),
    "terminal dropped": ((edits.drop(COMPLETED),), (f"{W}/terminal-present",)),
    "reasoning item added dropped": (
        (edits.drop(ADDED), renumber),
        (f"{W}/item-announced", f"{S}/in-reasoning-item"),
    ),
    "reasoning item done dropped": (
        (edits.drop(THINKING_CLOSED), renumber),
        (f"{W}/item-closed", f"{W}/items-serial", f"{W}/output-agrees"),
    ),
    "summary part.added dropped": (
        (edits.drop(SUMMARY_ADDED, 1), renumber),
        (f"{S}/part-lifecycle", f"{S}/part-index"),
    ),
    "summary text.done dropped": (
        (edits.drop(SUMMARY_TEXT, 1), renumber),
        (f"{S}/part-lifecycle", f"{S}/item-agrees"),
    ),
    "summary part.done dropped": (
        (edits.drop(SUMMARY_DONE, 1), renumber),
        (f"{S}/part-lifecycle",),  # and it is not closed before its item, which is no second one
    ),
    "summary delta dropped": ((edits.drop(SUMMARY_DELTA, 2), renumber), (f"{S}/text-agrees",)),
    "summary deltas swapped, renumbered": ((SWAP, renumber), (f"{S}/text-agrees",)),
    "summary deltas swapped with their numbers": (
        (SWAP,),
        (f"{S}/text-agrees", f"{W}/sequence-from-zero"),
    ),
    "summary delta doubled with its number": (
        (DOUBLE,),
        (f"{S}/text-agrees", f"{W}/sequence-from-zero"),
    ),
    "summary delta doubled, renumbered": ((DOUBLE, renumber), (f"{S}/text-agrees",)),
    "summary_index stuck": (
        (edits.change_all(edits.having("summary_index"), "summary_index", 0),),
        (f"{S}/part-lifecycle", f"{S}/part-index"),
    ),
    "summary_index per delta": ((summary_index_per_delta,), (f"{S}/part-lifecycle",)),
    "item_id rotates": ((ids_rotate,), (f"{W}/item-id",)),
    "item_id orphan": ((edits.change(DELTA, "item_id", "msg_orphan"),), (f"{W}/item-id",)),
    "item done index off by one": (
        (edits.change(MESSAGE_CLOSED, "output_index", 2),),
        (f"{W}/item-closed", f"{W}/item-announced"),
    ),
    "sequence_number missing": ((without_numbers,), (f"{W}/sequence-present",)),
    "sequence_number stuck": (
        (edits.change_all(everything, "sequence_number", 0),),
        (f"{W}/sequence-from-zero",),
    ),
    "sequence_number gap": (
        (edits.change_all(late, "sequence_number", lambda number: number + 1),),
        (f"{W}/sequence-from-zero",),
    ),
    "terminal twice": ((edits.duplicate(COMPLETED), renumber), (f"{W}/terminal-once",)),
    "event after terminal": (
        (edits.insert(KEEPALIVE, COMPLETED, after=True), renumber),
        (f"{W}/terminal-last",),
    ),
    "response.id changes": (
        (edits.change(COMPLETED, "response.id", "resp_other"),),
        (f"{W}/response-id",),
    ),
    "reasoning after message": (
        (thinking_late, renumber),
        (f"{W}/reasoning-before-message", "thinking/stream/before-text"),
    ),
    "reasoning closed after message": ((thinking_closed_late, renumber), (f"{W}/items-serial",)),
    "text.done disagrees": (
        (edits.change(SUMMARY_TEXT, "text", "Something else.", 1),),
        (f"{S}/text-agrees", f"{S}/part-agrees"),
    ),
    "item.summary disagrees": (
        (edits.change(THINKING_CLOSED, "item.summary.1.text", "Something else."),),
        (f"{S}/item-agrees", f"{W}/output-agrees"),
    ),
    "completed.output disagrees": (
        (edits.change(COMPLETED, "response.output.0.summary.1.text", "Something else."),),
        (f"{W}/output-agrees",),
    ),
    "output_text delta dropped": ((edits.drop(DELTA, 1), renumber), (f"{P}/text-agrees",)),
    "content_part.added dropped": (
        (edits.drop(PART_ADDED), renumber),
        (f"{P}/text-part-lifecycle",),
    ),
    "reasoning_part.added for summary_part.added": (
        (edits.retype(SUMMARY_ADDED, "response.reasoning_part.added", 1),),
        (f"{S}/part-lifecycle", f"{P}/raw-event-name"),
    ),
    "completed with status in_progress": (
        (edits.change(COMPLETED, "response.status", "in_progress"),),
        (f"{W}/status-agrees",),
    ),
}


def test_there_are_as_many_as_were_published() -> None:
    assert len(MUTANTS) == 32


@pytest.mark.parametrize("name", MUTANTS)
def test_published_mutant_is_killed(name: str) -> None:
    steps, killers = MUTANTS[name]
    edited: Pieces = pieces()
    for step in steps:
        edited = step(edited)
    assert edited != list(pieces())
    body = b"".join(map(encoded, edited))
    found = check_chunks([body], dialect="openai.responses", profile="openai")
    binding = {f.rule for f in found.findings if f.level in (Level.MUST, Level.SHOULD)}
    assert set(killers) <= binding
