"""Mutation of `opal.rpc`: where its events hold what, operators on starts and turns."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import Path, text_at
from conformance.dialects.opal_rpc.reader import EVENTS
from conformance.editing.edits import places_of
from conformance.editing.layout import StreamLayout, TextKind
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.operator_rows import operator_rows
from conformance.editing.stream import Stream

_TEXTS: Final[dict[str, dict[TextKind, Path]]] = {
    "thinking_delta": {"thinking": ("params", "delta")},
    "message_delta": {"text": ("params", "delta")},
}
_TYPE: Final = ("params", "type")

OPERATORS: Final = OperatorTable()


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


@OPERATORS.edit("X19-start-late", places_of("thinking_start"))
def _start_late(stream: Stream, site: int) -> Stream | None:
    """Thinking is announced behind its first delta."""
    deltas = [n for n in stream.typed("thinking_delta") if n > site]
    return stream.move(site, deltas[0] + 1) if deltas else None


OPERATORS.add("X14-all-thinking-lost", "Thinking is announced, and does not come.")(
    places_of("thinking_start"),
    lambda stream, _site: stream.without(*stream.typed("thinking_delta")),
)

MUTATION: Final = Mutation(_LAYOUT, (*OPERATORS, *operator_rows(__file__)))
