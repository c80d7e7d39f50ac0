"""Mutation of `gemini.generate`: where its chunks hold what, and faults of its signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.json_values import list_at, text_at
from conformance.editing.layout import Delta, StreamLayout, TextKind
from conformance.editing.operator import Mutation
from conformance.editing.piece import Piece

_PARTS: Final = ("candidates", 0, "content", "parts")
_USAGE: Final = ("usageMetadata", "thoughtsTokenCount")


def _chunk_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    for number, part in enumerate(list_at(piece.payload, *_PARTS)):
        if text := text_at(part, "text"):
            kind: TextKind = "thinking" if part.get("thought") is True else "text"
            yield Delta(place, ((*_PARTS, number, "text"),), kind, (kind,), text)


def _error_chunk(message: str, _code: str) -> Mapping[str, Any]:
    return {"error": {"code": 500, "message": message, "status": "INTERNAL"}}


def _signature(piece: Piece) -> str:
    found = (text_at(part, "thoughtSignature") for part in list_at(piece.payload, *_PARTS))
    return next(filter(None, found), "")


MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_chunk_deltas,
        error=_error_chunk,
        reasoning_tokens=(_USAGE,),
        opaque=_signature,
        refuses=frozenset({"comment", "empty delta", "ping"}),
        elements={
            "gemini.candidate": ("candidates", 0),
            "gemini.part": (*_PARTS, 0),
        },
    )
)
