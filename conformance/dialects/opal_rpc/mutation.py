"""Mutation of `opal.rpc`: where its events hold what, operators on starts and turns."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import Path, text_at
from conformance.dialects.opal_rpc.reader import EVENTS
from conformance.editing.edits import drop_piece, drop_value, places_of, prolong_text, set_value
from conformance.editing.layout import StreamLayout, TextKind
from conformance.editing.operator import Mutation, OperatorTable
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


OPERATORS.add("X16-answer-as-thought", "A piece of the answer comes as one of thinking.")(
    places_of("message_delta"), set_value("thinking_delta", *_TYPE)
)
OPERATORS.add("X21-other-text", "The turn ends with another text than was shown.")(
    places_of("turn_end"), prolong_text(" Hm.", "params", "message")
)
OPERATORS.add("X14-all-thinking-lost", "Thinking is announced, and does not come.")(
    places_of("thinking_start"),
    lambda stream, _site: stream.without(*stream.typed("thinking_delta")),
)
OPERATORS.add("N11-no-delta", "A delta has no text.")(
    places_of(*_TEXTS), drop_value("params", "delta")
)
OPERATORS.add("E8-error-untold", "The run fails without a reason.")(
    places_of("error"), drop_value("params", "reason")
)
OPERATORS.add("T6-end-of-nobody", "A tool ends that did not start.")(
    places_of("tool_start"), drop_piece
)

MUTATION: Final = Mutation(_LAYOUT, tuple(OPERATORS))
