"""Mutation of `opal.rpc`: where its events hold what, operators on starts and turns."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import Path, text_at
from conformance.dialects.opal_rpc.reader import EVENTS
from conformance.editing.layout import StreamLayout, TextKind
from conformance.editing.operator import Mutation
from conformance.editing.operator_rows import operator_rows

_TEXTS: Final[dict[str, dict[TextKind, Path]]] = {
    "thinking_delta": {"thinking": ("params", "delta")},
    "message_delta": {"text": ("params", "delta")},
}
_TYPE: Final = ("params", "type")


def event_type(payload: Any) -> str:
    """The type of an event of the agent."""
    return text_at(payload, *_TYPE)


def _failed_run(message: str, _code: str) -> dict[str, Any]:
    params = {"session_id": "session-1", "type": "error", "reason": message}
    return {"jsonrpc": "2.0", "method": "agent/event", "params": params}


_LAYOUT: Final = StreamLayout(
    texts=_TEXTS,
    type_of=event_type,
    error=_failed_run,
    openings=("agent_start",),
    starts=("agent_start", "thinking_start", "message_start", "tool_start"),
    ends=("tool_end", "agent_end"),
    terminals=("agent_end", "agent_abort"),
    refuses=frozenset({"ping"}),
    elements=dict.fromkeys(EVENTS, ("params",)),
)


MUTATION: Final = Mutation(_LAYOUT, operator_rows(__file__, globals()))
