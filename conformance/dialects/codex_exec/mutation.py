"""Mutation of `codex.exec`: where its lines hold what, operators on items and turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.core.json_values import text_at
from conformance.editing.layout import Delta, StreamLayout, TextKind
from conformance.editing.operator import Mutation
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece

_TEXTS: Final[dict[str, TextKind]] = {"reasoning": "thinking", "agent_message": "text"}
_DONE: Final = "item.completed"


def _item_texts(place: int, piece: Piece) -> Iterator[Delta]:
    kind = text_at(piece.payload, "item", "type")
    if piece.type == _DONE and kind in _TEXTS:
        group = (kind, text_at(piece.payload, "item", "id"))
        text = text_at(piece.payload, "item", "text")
        yield Delta(place, (("item", "text"),), _TEXTS[kind], group, text)


_LAYOUT: Final = StreamLayout(
    deltas=_item_texts,
    error=lambda message, _code: {"type": "turn.failed", "error": {"message": message}},
    openings=("thread.started",),
    starts=("thread.started", "turn.started"),
    ends=("turn.completed",),
    terminals=("turn.completed", "turn.failed"),
    refuses=frozenset({"ping", "split delta"}),
    unknown_event="vendor.note",
    reasoning_tokens=(("usage", "reasoning_output_tokens"),),
)


MUTATION: Final = Mutation(_LAYOUT, operator_rows(__file__))
