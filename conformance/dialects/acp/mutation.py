"""Mutation of `acp`: where its messages hold what, operators on chunks and responses."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import Path, text_at, value_at
from conformance.dialects.acp.reader import UPDATES
from conformance.editing.edits import places_of, places_with
from conformance.editing.layout import StreamLayout, TextKind
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.operator_rows import operator_rows
from conformance.editing.stream import Stream

_UPDATE: Final = ("params", "update")
_RESPONSE: Final = "prompt.response"
_TEXT: Final = (*_UPDATE, "content", "text")
_TEXTS: Final[dict[str, dict[TextKind, Path]]] = {
    "agent_message_chunk": {"text": _TEXT},
    "agent_thought_chunk": {"thinking": _TEXT},
}

OPERATORS: Final = OperatorTable()


def message_type(payload: Any) -> str:
    """The kind of an update, the method of a request, or what a response answers."""
    kind = text_at(payload, *_UPDATE, "sessionUpdate") or text_at(payload, "method")
    ends = value_at(payload, "result", "stopReason") or value_at(payload, "error")
    return kind or (_RESPONSE if ends else "")


def _error_response(message: str, code: str) -> dict[str, Any]:
    error = {"code": -32603, "message": message, "data": {"kind": code}}
    return {"jsonrpc": "2.0", "id": 2, "error": error}


_LAYOUT: Final = StreamLayout(
    texts=_TEXTS,
    text_keys=("params.update.messageId",),
    type_of=message_type,
    error=_error_response,
    starts=("tool_call",),
    ends=(_RESPONSE,),
    terminals=(_RESPONSE,),
    refuses=frozenset({"ping"}),
    elements=dict.fromkeys(UPDATES, _UPDATE),
)


@OPERATORS.edit("I11-id-shared", places_with(*_UPDATE, "messageId"))
def _share_id(stream: Stream, site: int) -> Stream | None:
    """A chunk has the id of a message of another kind."""
    kind = stream.pieces[site].type
    others = [n for n in stream.typed(*_TEXTS) if stream.pieces[n].type != kind]
    if not others:
        return None
    other = stream.value_at(others[0], *_UPDATE, "messageId")
    return stream.with_value(site, (*_UPDATE, "messageId"), other)


@OPERATORS.edit("E8-cancelled-as-done", places_of(_RESPONSE))
def _end_cancelled(stream: Stream, site: int) -> Stream | None:
    """A turn that the client cancelled ends as if it had not."""
    is_cancelled = stream.text_at(site, "result", "stopReason") == "cancelled"
    if not is_cancelled or not stream.typed("session/cancel"):
        return None
    return stream.with_value(site, ("result", "stopReason"), "end_turn")


MUTATION: Final = Mutation(_LAYOUT, (*OPERATORS, *operator_rows(__file__, globals())))
