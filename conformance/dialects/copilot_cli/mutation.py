"""Mutation of `copilot.cli`: where its events hold what, and operators on what repeats deltas."""

from __future__ import annotations

from typing import Final

from conformance.core.json_values import text_at
from conformance.dialects.copilot_cli.vocabulary import EVENTS
from conformance.editing.edits import places_of, set_value
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
_MESSAGES: Final = places_of("assistant.message")
_STARTS: Final = places_of("assistant.message_start")


def _opaque(piece: Piece) -> str:
    return text_at(piece.payload, "data", "reasoningOpaque")


def _streamed(stream: Stream) -> list[int]:
    """Messages whose text came in deltas."""
    begun = [stream.text_at(n, "data", "messageId") for n in _STARTS(stream)]
    return [n for n in _MESSAGES(stream) if stream.text_at(n, "data", "messageId") in begun]


OPERATORS.add("E8-failed-well", "A run that fails exits with 0.")(
    places_of("session.error"), lambda stream, _site: _exits_well(stream)
)


def _exits_well(stream: Stream) -> Stream | None:
    places = stream.typed("result")
    return set_value(0, "exitCode")(stream, places[-1]) if places else None


MUTATION: Final = Mutation(
    EVENTS.layout(
        error=lambda message, _code: {
            "type": "session.error",
            "data": {"errorType": "query", "message": message},
        },
        error_ends=False,
        opaque=_opaque,
        restates=True,
        text_keys=("agentId",),
        unknown_event="session.note",
    ),
    (*OPERATORS, *operator_rows(__file__, globals())),
)
