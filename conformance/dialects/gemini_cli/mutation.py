"""Mutation of `gemini.cli`: where its lines hold what, and operators on tools and results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.core.json_values import text_at
from conformance.dialects.gemini_cli.reader import LINES
from conformance.editing.layout import Delta
from conformance.editing.operator import Mutation
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece


def _failed_run(message: str, code: str) -> dict[str, Any]:
    stats = dict.fromkeys(("total_tokens", "input_tokens", "output_tokens"), 0)
    error = {"type": code, "message": message}
    return {"type": "result", "status": "error", "error": error, "stats": stats}


def _assistant_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    """What the assistant says; messages of the user have the same type."""
    text = text_at(piece.payload, "content")
    if text and text_at(piece.payload, "role") == "assistant":
        yield Delta(place, (("content",),), "text", ("message",), text)


MUTATION: Final = Mutation(
    LINES.layout(
        error=_failed_run,
        texts={},
        deltas=_assistant_deltas,
        refuses=frozenset({"ping"}),
        unknown_event="vendor_note",
    ),
    operator_rows(__file__),
)
