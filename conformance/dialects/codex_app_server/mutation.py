"""Mutation of `codex.app-server`: where notifications hold what, operators on items and turns."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import Path, text_at
from conformance.dialects.codex_app_server.reader import METHODS
from conformance.editing.deltas import delta_groups, is_restated
from conformance.editing.edits import (
    drop_piece,
    drop_value,
    places_of,
    places_with,
    prolong_text,
    set_value,
    typed_by,
)
from conformance.editing.layout import StreamLayout, TextKind
from conformance.editing.operator import Mutation, OperatorTable
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
_LAST_MESSAGE: Final[Path] = ("params", "turn", "items", 0)

OPERATORS: Final = OperatorTable()


def method_of(payload: Any) -> str:
    """The method of a notification or a request."""
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


OPERATORS.add("I11-id-rotates", "An item is completed under another id than it was started.")(
    places_of("item/completed"), prolong_text("-other", *_ITEM, "id")
)
OPERATORS.add("I11-other-item", "A delta names an item that is not there.")(
    places_of(*_TEXTS), set_value("item-other", "params", "itemId")
)
OPERATORS.add("I11-no-item-id", "A delta names no item.")(
    places_of(*_TEXTS), drop_value("params", "itemId")
)
OPERATORS.add("I11-turn-renamed", "The turn is completed under another id than it was started.")(
    places_of("turn/completed"), prolong_text("-other", "params", "turn", "id")
)
OPERATORS.add("I11-other-turn", "A notification about an item names another turn.")(
    places_of("item/started", "item/completed", *_TEXTS), prolong_text("-other", "params", "turnId")
)
OPERATORS.add("I11-other-thread", "A notification about an item names another thread.")(
    places_of("item/completed", *_TEXTS), prolong_text("-other", "params", "threadId")
)
OPERATORS.add("N11-other-type", "An item is completed as another one than was started.")(
    _completed("reasoning"), set_value("thought", *_ITEM, "type")
)
OPERATORS.add("X14-piece-lost", "A delta is lost.")(_restated_pieces, drop_piece)
OPERATORS.add("X21-other-text", "The completed message has another text.")(
    _completed("agentMessage"), set_value("Hm.", *_ITEM, "text")
)
OPERATORS.add("X21-other-end", "The completed turn sums up another message than the one sent.")(
    places_with(*_LAST_MESSAGE, "text"), prolong_text(" Hm.", *_LAST_MESSAGE, "text")
)
OPERATORS.add("U3-status-unknown", "The turn is completed with no known status.")(
    places_of("turn/completed"), set_value("done", "params", "turn", "status")
)
OPERATORS.add("X16-answer-as-thought", "A piece of the answer comes as one of reasoning.")(
    places_of(_MESSAGE), set_value(_RAW, "method")
)

MUTATION: Final = Mutation(_LAYOUT, tuple(OPERATORS))
