"""Mutation of `mistral.conversations`: where its events hold what, and operators on its entries."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import text_at
from conformance.dialects.mistral_conversations.vocabulary import EVENTS, THOUGHT
from conformance.editing.operator import Mutation
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream


def _error_event(message: str, _code: str) -> dict[str, Any]:
    return {"type": "conversation.response.error", "message": message, "code": 500}


def _signature(piece: Piece) -> str:
    return text_at(piece.payload, "content", "signature")


def _thoughts(stream: Stream) -> list[int]:
    return [n for n, _ in stream.events() if stream.text_at(n, *THOUGHT)]


MUTATION: Final = Mutation(
    EVENTS.layout(error=_error_event, named_events=True, opaque=_signature),
    operator_rows(__file__, globals()),
)
