"""Mutation of `opencode.run`: where its lines hold what, operators on parts and steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.core.json_values import text_at
from conformance.editing.layout import Delta, StreamLayout, TextKind
from conformance.editing.operator import Mutation
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

_TEXTS: Final[dict[str, TextKind]] = {"reasoning": "thinking", "text": "text"}


def _part_texts(place: int, piece: Piece) -> Iterator[Delta]:
    if piece.type in _TEXTS:
        group = (piece.type, text_at(piece.payload, "part", "id"))
        text = text_at(piece.payload, "part", "text")
        yield Delta(place, (("part", "text"),), _TEXTS[piece.type], group, text)


def _failed_run(message: str, _code: str) -> dict[str, Any]:
    error = {"name": "UnknownError", "data": {"message": message}}
    return {"type": "error", "timestamp": 0, "sessionID": "ses_1", "error": error}


_LAYOUT: Final = StreamLayout(
    deltas=_part_texts,
    error=_failed_run,
    openings=("step_start",),
    starts=("step_start",),
    ends=("step_finish",),
    terminals=("step_finish", "error"),
    refuses=frozenset({"ping", "split delta"}),
    unknown_event="vendor_note",
    reasoning_tokens=(("part", "tokens", "reasoning"),),
)


def _answers_before_a_step(stream: Stream) -> list[int]:
    """Ends of steps that gave text last, with another step after them."""
    kinds = [each.type for each in stream.pieces]
    around = zip(kinds, kinds[1:], kinds[2:], strict=False)
    return [n for n, each in enumerate(around, 1) if each == ("text", "step_finish", "step_start")]


MUTATION: Final = Mutation(_LAYOUT, operator_rows(__file__, globals()))
