"""Mutation of `otel.genai`: operators on the messages of an answer, and on those it was given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.json_values import list_at, text_at
from conformance.dialects.otel_genai.vocabulary import ANSWERS
from conformance.editing.edits import places_with
from conformance.editing.layout import Delta, StreamLayout, TextKind
from conformance.editing.operator import Mutation, OperatorTable, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
_PARTS: Final = (ANSWERS, 0, "parts")
_MESSAGES: Final = places_with(*_PARTS)

_KINDS: Final[Mapping[str, TextKind]] = {"reasoning": "thinking", "text": "text"}

Part = dict[str, Any]


def _part_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    """The texts of parts: an answer is whole, so that each is one piece."""
    for choice, message in enumerate(list_at(piece.payload, ANSWERS)):
        for number, part in enumerate(list_at(message, "parts")):
            kind = _KINDS.get(text_at(part, "type"))
            if kind is not None and (text := text_at(part, "content")):
                path = (ANSWERS, choice, "parts", number, "content")
                yield Delta(place, (path,), kind, (kind, choice, number), text, choice)


def _signature(piece: Piece) -> str:
    found = (text_at(part, "signature") for part in list_at(piece.payload, *_PARTS))
    return next(filter(None, found), "")


def _with_part(*kinds: str) -> Sites:
    """Answers whose first message has such a part."""
    return lambda stream: [
        n
        for n in _MESSAGES(stream)
        if any(text_at(part, "type") in kinds for part in stream.list_at(n, *_PARTS))
    ]


def _thinks_and_speaks(stream: Stream) -> list[int]:
    speaks = _with_part("text")(stream)
    return [n for n in _with_part("reasoning")(stream) if n in speaks]


def _reasoning_last(stream: Stream, site: int) -> Stream:
    parts = stream.list_at(site, *_PARTS)
    return stream.with_value(
        site, _PARTS, sorted(parts, key=lambda part: text_at(part, "type") == "reasoning")
    )


OPERATORS.add("X10-reasoning-last", "Reasoning comes after the text.")(
    _thinks_and_speaks, _reasoning_last
)
MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_part_deltas,
        error=lambda _message, code: {"error_type": code},
        error_ends=False,
        opaque=_signature,
        elements={"otel.part": (*_PARTS, 0)},
    ),
    (*OPERATORS, *operator_rows(__file__, globals())),
)
