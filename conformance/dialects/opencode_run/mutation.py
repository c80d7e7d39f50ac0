"""Mutation of `opencode.run`: where its lines hold what, operators on parts and steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.core.json_values import text_at
from conformance.editing.edits import (
    double_piece,
    drop_piece,
    drop_value,
    places_of,
    prolong_text,
    set_value,
)
from conformance.editing.layout import Delta, StreamLayout, TextKind
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

_TEXTS: Final[dict[str, TextKind]] = {"reasoning": "thinking", "text": "text"}
_PARTS: Final = ("step_start", "reasoning", "text", "tool_use", "step_finish")

OPERATORS: Final = OperatorTable()


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


@OPERATORS.edit("E1-step-open", places_of("step_finish"))
def _leave_open(stream: Stream, site: int) -> Stream | None:
    """The last lines of the run are not written."""
    return stream.without(*range(site, len(stream.pieces)))


def _answers_before_a_step(stream: Stream) -> list[int]:
    """Ends of steps that gave text last, with another step behind them."""
    kinds = [each.type for each in stream.pieces]
    around = zip(kinds, kinds[1:], kinds[2:], strict=False)
    return [n for n, each in enumerate(around, 1) if each == ("text", "step_finish", "step_start")]


OPERATORS.add("X8-asked-again", "A step gives text and no reason, and the model is asked again.")(
    _answers_before_a_step, set_value("unknown", "part", "reason")
)
OPERATORS.add("X14-reasoning-lost", "The reasoning of a step that counts it is not shown.")(
    places_of("reasoning"), drop_piece
)
OPERATORS.add("X3-part-twice", "A part is written twice.")(
    places_of("reasoning", "text", "tool_use"), double_piece
)
OPERATORS.add("I11-no-part-id", "A part has no id.")(places_of(*_PARTS), drop_value("part", "id"))
OPERATORS.add("I11-session-renamed", "A line is of another session.")(
    places_of(*_PARTS), prolong_text("-other", "sessionID")
)
OPERATORS.add("I11-part-of-another", "A part is of another session than its line.")(
    places_of(*_PARTS), prolong_text("-other", "part", "sessionID")
)
OPERATORS.add("I11-message-renamed", "A part is of another message than its step.")(
    places_of("reasoning", "text", "tool_use"), prolong_text("-other", "part", "messageID")
)
OPERATORS.add("X2-call-lost", "A call of a tool is not shown.")(places_of("tool_use"), drop_piece)
OPERATORS.add("T6-call-running", "A call is written while it runs.")(
    places_of("tool_use"), set_value("running", "part", "state", "status")
)
OPERATORS.add("X18-empty-part", "A text or a thought says nothing.")(
    places_of(*_TEXTS), set_value("", "part", "text")
)
OPERATORS.add("E1-text-unended", "A text is written before it has ended.")(
    places_of(*_TEXTS), drop_value("part", "time", "end")
)
OPERATORS.add("U10-no-reason", "A step does not say why it ended.")(
    places_of("step_finish"), drop_value("part", "reason")
)
OPERATORS.add("E8-error-untold", "The run fails without a reason.")(
    places_of("error"), drop_value("error", "name")
)
OPERATORS.add("U13-usage-lost", "The step counts nothing.")(
    places_of("step_finish"), drop_value("part", "tokens")
)

MUTATION: Final = Mutation(_LAYOUT, tuple(OPERATORS))
