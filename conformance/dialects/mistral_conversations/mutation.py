"""Mutation of `mistral.conversations`: where its events hold what, and operators on its entries."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import text_at
from conformance.dialects.mistral_conversations.vocabulary import EVENTS, THOUGHT
from conformance.editing.edits import drop_value, first_of, later_with, places_of, set_value
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
_DONE: Final = places_of("conversation.response.done")
_CALLS: Final = places_of("function.call.delta")


def _error_event(message: str, _code: str) -> dict[str, Any]:
    return {"type": "conversation.response.error", "message": message, "code": 500}


def _signature(piece: Piece) -> str:
    return text_at(piece.payload, "content", "signature")


def _thoughts(stream: Stream) -> list[int]:
    return [n for n, _ in stream.events() if stream.text_at(n, *THOUGHT)]


@OPERATORS.edit("N14-thinking-is-text", _thoughts)
def _unwrap(stream: Stream, site: int) -> Stream:
    """The thinking of a part is a text and not in parts itself."""
    return stream.with_value(site, THOUGHT[:2], stream.text_at(site, *THOUGHT))


@OPERATORS.edit("N14-content-is-list", _thoughts)
def _listed(stream: Stream, site: int) -> Stream:
    """The content of a delta is a list of parts, as in Chat Completions."""
    return stream.with_value(site, ("content",), [stream.value_at(site, "content")])


OPERATORS.add("N2-part-renamed", "A part of thinking has the type of another API.")(
    _thoughts, set_value("reasoning", "content", "type")
)
OPERATORS.add("I11-entry-renumbered", "A delta has the number of another entry.")(
    later_with("content"), set_value(0, "output_index")
)
OPERATORS.add("T6-no-call-id", "A call has no id.")(_CALLS, drop_value("tool_call_id"))
OPERATORS.add("T5-nameless-call", "A call does not name its function.")(_CALLS, drop_value("name"))
OPERATORS.add("N10-no-conversation", "The start names no conversation.")(
    first_of(places_of("conversation.response.started")), drop_value("conversation_id")
)
OPERATORS.add("U5-no-usage", "The end counts nothing.")(_DONE, drop_value("usage"))
OPERATORS.add("U9-total-wrong", "The total is not the sum.")(
    _DONE, set_value(1, "usage", "total_tokens")
)
OPERATORS.add("E8-error-uncoded", "An error has no code.")(
    places_of("conversation.response.error"), drop_value("code")
)

MUTATION: Final = Mutation(
    EVENTS.layout(error=_error_event, named_events=True, opaque=_signature), tuple(OPERATORS)
)
