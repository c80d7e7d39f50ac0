"""Mutation of `acp`: where its messages hold what, operators on chunks and responses."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import Path, text_at, value_at
from conformance.dialects.acp.reader import UPDATES
from conformance.editing.edits import (
    double_piece,
    drop_piece,
    drop_value,
    places_of,
    places_with,
    prolong_text,
    set_value,
)
from conformance.editing.layout import StreamLayout, TextKind
from conformance.editing.operator import Mutation, OperatorTable, Sites
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


def _prompted(*kinds: str) -> Sites:
    """Messages of these kinds, where the prompt is in the transcript, too."""
    return lambda stream: stream.typed(*kinds) if stream.typed("session/prompt") else []


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


OPERATORS.add("I11-other-session", "An update names a session that the client does not know.")(
    places_of(*_TEXTS), prolong_text("-other", "params", "sessionId")
)
OPERATORS.add("I11-other-request", "The response to the prompt has the id of no request.")(
    _prompted(_RESPONSE), set_value("other", "id")
)
OPERATORS.add("N11-no-session", "An update does not say whose it is.")(
    places_of(*_TEXTS), drop_value("params", "sessionId")
)
OPERATORS.add("N11-no-session-asked", "A request of the agent does not say in which session.")(
    places_of("session/request_permission", "fs/read_text_file"), drop_value("params", "sessionId")
)
OPERATORS.add("E8-result-beside-error", "A turn that failed has a result of null, too.")(
    places_with("error", "message"), set_value(None, "result")
)
OPERATORS.add("N11-no-version", "A message does not say that it is JSON-RPC 2.0.")(
    places_of(*_TEXTS), drop_value("jsonrpc")
)
OPERATORS.add("N11-text-bare", "The content of a chunk is a text, and no block.")(
    places_of(*_TEXTS), set_value("Hm.", *_UPDATE, "content")
)
OPERATORS.add("N11-response-twice", "The prompt is answered twice.")(
    places_of(_RESPONSE), double_piece
)
OPERATORS.add("N11-response-lost", "The prompt is not answered.")(places_of(_RESPONSE), drop_piece)
OPERATORS.add("U10-unknown-stop-reason", "The stop reason is no known one.")(
    places_with("result", "stopReason"), set_value("stop", "result", "stopReason")
)
OPERATORS.add("B28-diagnostic", "A warning of the agent's own is sent as its message.")(
    places_of("agent_message_chunk"),
    set_value("Defaulting to fallback metadata; this can degrade performance.", *_TEXT),
)
OPERATORS.add("T6-update-of-nobody", "News of a call name none that was announced.")(
    places_of("tool_call_update"), set_value("call-other", *_UPDATE, "toolCallId")
)

MUTATION: Final = Mutation(_LAYOUT, tuple(OPERATORS))
