"""Mutation of `gemini.cli`: where its lines hold what, and operators on tools and results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.core.json_values import text_at
from conformance.dialects.gemini_cli.reader import LINES
from conformance.editing.edits import drop_piece, drop_value, places_of, places_with, set_value
from conformance.editing.layout import Delta
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.piece import Piece

OPERATORS: Final = OperatorTable()


def _failed_run(message: str, code: str) -> dict[str, Any]:
    stats = dict.fromkeys(("total_tokens", "input_tokens", "output_tokens"), 0)
    error = {"type": code, "message": message}
    return {"type": "result", "status": "error", "error": error, "stats": stats}


def _said(place: int, piece: Piece) -> Iterator[Delta]:
    """What the assistant says; messages of the user have the same type."""
    text = text_at(piece.payload, "content")
    if text and text_at(piece.payload, "role") == "assistant":
        yield Delta(place, (("content",),), "text", ("message",), text)


OPERATORS.add("X2-result-lost", "A tool has no result.")(places_of("tool_result"), drop_piece)
OPERATORS.add("X22-call-lost", "A call of a tool is not shown.")(places_of("tool_use"), drop_piece)
OPERATORS.add("I11-no-tool-id", "A call has no id.")(places_of("tool_use"), drop_value("tool_id"))
OPERATORS.add("T3-parameters-text", "The parameters of a call are a text.")(
    places_of("tool_use"), set_value("{}", "parameters")
)
OPERATORS.add("E8-failed-well", "A run that failed says that it succeeded.")(
    places_with("error"), set_value("success", "status")
)
OPERATORS.add("E8-error-untold", "What failed does not say why.")(
    places_with("error"), drop_value("error")
)
OPERATORS.add("U5-no-stats", "The result counts nothing.")(places_of("result"), drop_value("stats"))
OPERATORS.add("N10-no-session", "The first line names no session.")(
    places_of("init"), drop_value("session_id")
)
OPERATORS.add("N10-role-of-model", "What the model says has another role.")(
    places_with("delta"), set_value("model", "role")
)

MUTATION: Final = Mutation(
    LINES.layout(
        error=_failed_run,
        texts={},
        deltas=_said,
        refuses=frozenset({"ping"}),
        unknown_event="vendor_note",
    ),
    tuple(OPERATORS),
)
