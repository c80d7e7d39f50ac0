"""Mutation of `codex.exec`: where its lines hold what, operators on items and turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.core.json_values import text_at
from conformance.editing.edits import (
    double_piece,
    drop_piece,
    drop_value,
    places_of,
    set_value,
    typed_by,
)
from conformance.editing.layout import Delta, StreamLayout, TextKind
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.piece import Piece

_TEXTS: Final[dict[str, TextKind]] = {"reasoning": "thinking", "agent_message": "text"}
_DONE: Final = "item.completed"

OPERATORS: Final = OperatorTable()


def _item_texts(place: int, piece: Piece) -> Iterator[Delta]:
    kind = text_at(piece.payload, "item", "type")
    if piece.type == _DONE and kind in _TEXTS:
        group = (kind, text_at(piece.payload, "item", "id"))
        text = text_at(piece.payload, "item", "text")
        yield Delta(place, (("item", "text"),), _TEXTS[kind], group, text)


def _failed_turn(message: str, _code: str) -> dict[str, Any]:
    return {"type": "turn.failed", "error": {"message": message}}


_LAYOUT: Final = StreamLayout(
    deltas=_item_texts,
    error=_failed_turn,
    openings=("thread.started",),
    starts=("thread.started", "turn.started"),
    ends=("turn.completed",),
    terminals=("turn.completed", "turn.failed"),
    refuses=frozenset({"ping", "split delta"}),
    unknown_event="vendor.note",
    reasoning_tokens=(("usage", "reasoning_output_tokens"),),
)


_items_of: Final = typed_by(_DONE, "item", "type")


OPERATORS.add("X14-reasoning-lost", "The reasoning of a turn that counts it is not shown.")(
    _items_of("reasoning"), drop_piece
)
OPERATORS.add("X3-item-twice", "An item is completed twice.")(places_of(_DONE), double_piece)
OPERATORS.add("I11-no-item-id", "An item has no id.")(places_of(_DONE), drop_value("item", "id"))
OPERATORS.add("X2-call-open", "An item that was started is not completed.")(
    _items_of("command_execution"), drop_piece
)
OPERATORS.add("X18-empty-item", "A message or a thought of the agent says nothing.")(
    _items_of("reasoning", "agent_message"), set_value("", "item", "text")
)
OPERATORS.add("E8-error-untold", "A turn fails without a reason.")(
    places_of("turn.failed"), drop_value("error", "message")
)
OPERATORS.add("U13-usage-lost", "The turn counts nothing.")(
    places_of("turn.completed"), drop_value("usage")
)

MUTATION: Final = Mutation(_LAYOUT, tuple(OPERATORS))
