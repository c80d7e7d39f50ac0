"""Mutants of a four-part summary stream with which other checkers were measured.

On a real stream of this shape the OpenAI SDK caught 4 of 32, the Open Responses schemas 4,
llm-comply 9 and vLLM's stack check 12. Here each is killed, by the rules that stand beside it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance.recordings.api import check_chunks
from conformance.rules.verdicts import Level
from tests.authoring import edits
from tests.authoring.catalogue import good
from tests.authoring.edit_rows import step_of, where
from tests.authoring.edits import Pieces
from tests.authoring.pieces import Message, Piece, encoded
from tests.tables import read_table

BASE = "openai.responses/openai/summary-four-parts"
TABLE = read_table(Path(__file__).with_name("published_mutants.yaml"))
ADDED, COMPLETED, THINKING_CLOSED, MESSAGE_CLOSED, SUMMARY_DELTA = (
    where(TABLE["where"][name])
    for name in ("added", "completed", "thinking-closed", "message-closed", "summary-delta")
)


@cache
def pieces() -> tuple[Piece, ...]:
    return next(draft.pieces for draft in good() if draft.name == BASE)


def summary_index_per_delta(before: Pieces) -> list[Piece]:
    indices = iter(range(len(before)))
    return edits.change_all(SUMMARY_DELTA, "summary_index", lambda _: next(indices))(before)


def ids_rotate(before: Pieces) -> list[Piece]:
    numbers = iter(range(len(before)))
    has_id = edits.having("item_id")
    return edits.change_all(has_id, "item_id", lambda old: f"{old}-{next(numbers)}")(before)


def gap(before: Pieces) -> list[Piece]:
    def late(message: Message) -> bool:
        return bool(message.payload["sequence_number"] > 20)

    return edits.change_all(late, "sequence_number", lambda number: number + 1)(before)


def thinking_late(before: Pieces) -> list[Piece]:
    def has_index(message: Message) -> bool:
        return "output_index" in message.payload

    swapped = edits.change_all(has_index, "output_index", lambda index: 1 - index)(before)
    first, last = edits.place(swapped, ADDED), edits.place(swapped, THINKING_CLOSED) + 1
    end = edits.place(swapped, COMPLETED)
    moved = swapped[:first] + swapped[last:end] + swapped[first:last] + swapped[end:]
    return edits.change(COMPLETED, "response.output", lambda items: items[::-1])(moved)


def thinking_closed_late(before: Pieces) -> list[Piece]:
    by = edits.place(before, MESSAGE_CLOSED) - edits.place(before, THINKING_CLOSED)
    return edits.move(THINKING_CLOSED, by=by)(before)


CODE = {
    each.__name__: each
    for each in (summary_index_per_delta, ids_rotate, gap, thinking_late, thinking_closed_late)
}


def edited(rows: list[dict[str, Any]]) -> Pieces:
    made: Pieces = pieces()
    for row in rows:
        step = CODE[row["by"]] if "by" in row else step_of(row, TABLE["where"])
        made = step(made)
    return made


def test_there_are_as_many_as_were_published() -> None:
    assert len(TABLE["mutants"]) == 32


@pytest.mark.parametrize("name", TABLE["mutants"])
def test_published_mutant_is_killed(name: str) -> None:
    rows, killers = TABLE["mutants"][name]
    made = edited(rows)
    assert list(made) != list(pieces())
    body = b"".join(map(encoded, made))
    found = check_chunks([body], dialect="openai.responses", profile="openai")
    binding = {f.rule for f in found.findings if f.level in (Level.MUST, Level.SHOULD)}
    assert {each if "/" in each else f"wire/responses/{each}" for each in killers} <= binding
