"""Mutation of `langchain.events`: where its events hold what, operators on blocks and messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.core.json_values import Path, text_at, value_at
from conformance.dialects.langchain_events.vocabulary import DATA, EVENTS
from conformance.editing.layout import Delta
from conformance.editing.operator import Mutation, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece


def event_type(payload: Any) -> str:
    """The name of an event of a message, bare or in the envelope, else the method."""
    if method := text_at(payload, "method"):
        return text_at(payload, *DATA, "event") if method == "messages" else method
    return text_at(payload, "event")


def _enveloped(place: int, piece: Piece) -> Iterator[Delta]:
    """Deltas in the envelope; the table has those of bare events."""
    data = value_at(piece.payload, *DATA)
    owner = (str(value_at(piece.payload, "params", "namespace")), value_at(data, "index"))
    for kind, path in EVENTS.words.get(text_at(data, "delta", "type"), {}).items():
        if text := text_at(data, *path):
            yield Delta(place, ((*DATA, *path),), kind, (kind, *owner), text)


def _event_path(payload: Any) -> Path:
    return DATA if text_at(payload, "method") else ()


def _opaque(piece: Piece) -> str:
    extras = value_at(piece.payload, *_event_path(piece.payload), "content", "extras")
    return text_at(extras, "signature") or text_at(extras, "encrypted_content")


def _finishes(*kinds: str) -> Sites:
    """Ends of blocks of these types."""
    return lambda stream: [
        place
        for place, piece in stream.events()
        if piece.type == "content-block-finish"
        and text_at(piece.payload, *_event_path(piece.payload), "content", "type") in kinds
    ]


_thinking_finishes, _text_finishes = _finishes("reasoning"), _finishes("text")


MUTATION: Final = Mutation(
    EVENTS.layout(
        deltas=_enveloped,
        type_of=event_type,
        error=lambda message, _code: {"event": "error", "message": message},
        text_keys=("index", "params.data.index", "params.namespace"),
        restates=True,
        named_events=True,
        once=(("seq",), ("event_id",)),
        refuses=frozenset({"ping"}),
        reasoning_tokens=(
            ("usage", "output_token_details", "reasoning"),
            (*DATA, "usage", "output_token_details", "reasoning"),
        ),
        opaque=_opaque,
    ),
    operator_rows(__file__, globals(), base=_event_path),
)
