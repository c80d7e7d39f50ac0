"""Mutation of `otel.genai`: operators on the messages of an answer, and on those it was given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from conformance.core.json_values import list_at, text_at
from conformance.dialects.otel_genai.vocabulary import ANSWERS
from conformance.editing.edits import places_with
from conformance.editing.layout import Delta, StreamLayout, TextKind
from conformance.editing.operator import Edit, Mutation, OperatorTable, Sites
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


def _error(_message: str, code: str) -> dict[str, Any]:
    return {"error_type": code}


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


def _parts(change: Callable[[Part], Part | None], *kinds: str) -> Edit:
    """Parts of such types are others, or gone."""

    def edited(stream: Stream, site: int) -> Stream:
        parts = stream.list_at(site, *_PARTS)
        new = [change(part) if text_at(part, "type") in kinds else part for part in parts]
        return stream.with_value(site, _PARTS, [part for part in new if part is not None])

    return edited


def _reasoning_last(stream: Stream, site: int) -> Stream:
    parts = stream.list_at(site, *_PARTS)
    return stream.with_value(
        site, _PARTS, sorted(parts, key=lambda part: text_at(part, "type") == "reasoning")
    )


def _written(part: Part) -> Part:
    return {**part, "arguments": msgspec.json.encode(part.get("arguments")).decode()}


def _without(key: str) -> Callable[[Part], Part]:
    return lambda part: {name: value for name, value in part.items() if name != key}


OPERATORS.add("N2-thinking-part", "Reasoning has the type of another convention.")(
    _with_part("reasoning"), _parts(lambda part: {**part, "type": "thinking"}, "reasoning")
)
OPERATORS.add("N10-no-content", "A part of reasoning holds nothing.")(
    _with_part("reasoning"), _parts(_without("content"), "reasoning")
)
OPERATORS.add("N10-text-not-content", "A part of text has its text under another key.")(
    _with_part("text"), _parts(lambda part: {"type": "text", "text": part["content"]}, "text")
)
OPERATORS.add("N14-content-is-list", "The text of a part is a list.")(
    _with_part("text"), _parts(lambda part: {**part, "content": [part["content"]]}, "text")
)
OPERATORS.add("X10-reasoning-last", "Reasoning comes after the text.")(
    _thinks_and_speaks, _reasoning_last
)
OPERATORS.add("N14-parts-are-content", "A message has a content where parts are due.")(
    _MESSAGES,
    lambda stream, site: stream.with_value(
        site, (ANSWERS, 0), {"role": "assistant", "content": "Hi.", "finish_reason": "stop"}
    ),
)
OPERATORS.add("T5-nameless-call", "A call does not name its tool.")(
    _with_part("tool_call"), _parts(_without("name"), "tool_call")
)
OPERATORS.add("T6-no-call-id", "A call has no id.")(
    _with_part("tool_call"), _parts(_without("id"), "tool_call")
)
OPERATORS.add("T3-arguments-are-text", "The arguments of a call are JSON in a text.")(
    _with_part("tool_call"), _parts(_written, "tool_call")
)
MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_part_deltas,
        error=_error,
        error_ends=False,
        opaque=_signature,
        elements={"otel.part": (*_PARTS, 0)},
    ),
    (*OPERATORS, *operator_rows(__file__)),
)
