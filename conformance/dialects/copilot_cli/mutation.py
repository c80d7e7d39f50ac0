"""Mutation of `copilot.cli`: where its events hold what, and operators on what repeats deltas."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import text_at
from conformance.dialects.copilot_cli.vocabulary import EVENTS
from conformance.editing.edits import (
    double_piece,
    drop_piece,
    drop_value,
    places_of,
    prolong_text,
    set_value,
)
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
_MESSAGES: Final = places_of("assistant.message")
_STARTS: Final = places_of("assistant.message_start")


def _session_error(message: str, _code: str) -> dict[str, Any]:
    return {"type": "session.error", "data": {"errorType": "query", "message": message}}


def _opaque(piece: Piece) -> str:
    return text_at(piece.payload, "data", "reasoningOpaque")


def _streamed(stream: Stream) -> list[int]:
    """Messages whose text came in deltas."""
    begun = [stream.text_at(n, "data", "messageId") for n in _STARTS(stream)]
    return [n for n in _MESSAGES(stream) if stream.text_at(n, "data", "messageId") in begun]


OPERATORS.add("X22-message-lost", "A message is not stated whole.")(_MESSAGES, drop_piece)
OPERATORS.add("X25-text-differs", "The text that is stated whole has more words.")(
    _streamed, prolong_text(" And on.", "data", "content")
)
OPERATORS.add("X25-thinking-differs", "The reasoning that is stated whole has more words.")(
    places_of("assistant.reasoning"), prolong_text(" And on.", "data", "content")
)
OPERATORS.add("I11-delta-of-another", "A delta is of another message.")(
    places_of("assistant.message_delta"), prolong_text("-other", "data", "messageId")
)
OPERATORS.add("I11-no-reasoning-id", "A reasoning has no id.")(
    places_of("assistant.reasoning_delta"), drop_value("data", "reasoningId")
)
OPERATORS.add("X2-result-lost", "A tool never completes.")(
    places_of("tool.execution_complete"), drop_piece
)
OPERATORS.add("X3-idle-twice", "A run is over twice.")(places_of("assistant.idle"), double_piece)
OPERATORS.add("E8-error-unnamed", "An error has no type.")(
    places_of("session.error"), drop_value("data", "errorType")
)
OPERATORS.add("E8-failed-well", "A run that fails exits with 0.")(
    places_of("session.error"), lambda stream, _site: _exits_well(stream)
)
OPERATORS.add("N10-no-code", "The result has no exit code.")(
    places_of("result"), drop_value("exitCode")
)
OPERATORS.add("T5-nameless-request", "A call that is requested has no name.")(
    lambda stream: [
        n for n in _MESSAGES(stream) if stream.value_at(n, "data", "toolRequests", 0, "name")
    ],
    drop_value("data", "toolRequests", 0, "name"),
)


def _exits_well(stream: Stream) -> Stream | None:
    places = stream.typed("result")
    return set_value(0, "exitCode")(stream, places[-1]) if places else None


MUTATION: Final = Mutation(
    EVENTS.layout(
        error=_session_error,
        error_ends=False,
        opaque=_opaque,
        restates=True,
        text_keys=("agentId",),
        unknown_event="session.note",
    ),
    tuple(OPERATORS),
)
