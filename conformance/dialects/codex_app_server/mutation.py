"""Mutation of `codex.app-server`: where notifications hold what, operators on items and turns."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import Path, text_at
from conformance.dialects.codex_app_server.reader import METHODS
from conformance.editing.deltas import delta_groups, is_restated
from conformance.editing.edits import (
    typed_by,
)
from conformance.editing.layout import StreamLayout, TextKind
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.operator_rows import operator_rows
from conformance.editing.stream import Stream

_SUMMARY: Final = "item/reasoning/summaryTextDelta"
_RAW: Final = "item/reasoning/textDelta"
_MESSAGE: Final = "item/agentMessage/delta"
_DELTA: Final = ("params", "delta")
_TEXTS: Final[dict[str, dict[TextKind, Path]]] = {
    _SUMMARY: {"thinking": _DELTA},
    _RAW: {"thinking": _DELTA},
    _MESSAGE: {"text": _DELTA},
}
_ITEM: Final = ("params", "item")

OPERATORS: Final = OperatorTable()


def method_of(payload: Any) -> str:
    return text_at(payload, "method")


_LAYOUT: Final = StreamLayout(
    texts=_TEXTS,
    text_keys=("params.itemId", "params.summaryIndex"),
    type_of=method_of,
    error_ends=False,
    openings=("turn/started",),
    starts=("turn/started", "item/started", "item/reasoning/summaryPartAdded"),
    ends=("item/completed", "turn/completed"),
    terminals=("turn/completed",),
    refuses=frozenset({"ping"}),
    elements=dict.fromkeys(METHODS, ("params",)),
)


_completed: Final = typed_by("item/completed", *_ITEM, "type")


def _restated_pieces(stream: Stream) -> list[int]:
    """Deltas of several that a completed item states as a whole."""
    groups = [group for group in delta_groups(stream) if is_restated(stream, group)]
    return sorted(each.place for group in groups if len(group) > 1 for each in group)


@OPERATORS.edit("X14-reasoning-lost", _completed("reasoning"))
def _forget_reasoning(stream: Stream, site: int) -> Stream:
    """The completed reasoning has no text."""
    bare = stream.with_value(site, (*_ITEM, "summary"), [])
    return bare.with_value(site, (*_ITEM, "content"), [])


MUTATION: Final = Mutation(_LAYOUT, (*OPERATORS, *operator_rows(__file__, globals())))
