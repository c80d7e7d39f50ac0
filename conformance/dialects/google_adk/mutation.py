"""Mutation of `google.adk`: where its events hold what, operators on fragments and whole events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from conformance.core.json_values import list_at, text_at, value_at
from conformance.editing.edits import places_with
from conformance.editing.layout import Delta, StreamLayout, TextKind
from conformance.editing.operator import Edit, Mutation, OperatorTable, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
_PARTS: Final = ("content", "parts")
_COUNT: Final = ("usageMetadata", "thoughtsTokenCount")
_CALL: Final = "functionCall"

Part = dict[str, Any]


def _is_fragment(piece: Piece) -> bool:
    return value_at(piece.payload, "partial") is True


def _fragment_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    """A whole event repeats what its fragments said: those alone are deltas."""
    if not _is_fragment(piece):
        return
    answer = text_at(piece.payload, "id")
    for number, part in enumerate(list_at(piece.payload, *_PARTS)):
        if text := text_at(part, "text"):
            kind: TextKind = "thinking" if part.get("thought") is True else "text"
            yield Delta(place, ((*_PARTS, number, "text"),), kind, (kind, answer), text)


def _signature(piece: Piece) -> str:
    found = (text_at(part, "thoughtSignature") for part in list_at(piece.payload, *_PARTS))
    return next(filter(None, found), "")


def _events(*, partial: bool, after_fragments: bool = False) -> Sites:
    """Fragments, or whole events; `behind_fragments`: those that say a fragment again."""

    def sites(stream: Stream) -> list[int]:
        found, is_open = [], False
        for place, piece in stream.events():
            is_fragment = _is_fragment(piece)
            is_open = is_open and bool(list_at(piece.payload, *_PARTS))  # no bare failure
            if is_fragment is partial and (is_open or not after_fragments):
                found.append(place)
            is_open = is_fragment
        return found

    return sites


def _whole_with(key: str) -> Sites:
    """Whole events after fragments that have a part with something under this key."""
    whole = _events(partial=False, after_fragments=True)
    return lambda stream: [
        place
        for place in whole(stream)
        if any(value_at(part, key) for part in list_at(stream.pieces[place].payload, *_PARTS))
    ]


_no_fragments: Final = _events(partial=False)
_wholes: Final = _events(partial=False, after_fragments=True)
_wholes_with_thoughts, _wholes_with_calls = _whole_with("thought"), _whole_with(_CALL)


def _last_words(stream: Stream) -> list[int]:
    """The last whole event of a model, where it has words and anything says why these end."""
    found = _no_fragments(stream)
    spoken = [n for n in found if stream.text_at(n, "content", "role") == "model"][-1:]
    return [
        place
        for place in spoken
        if places_with("finishReason")(stream)
        for part in stream.list_at(place, *_PARTS)[-1:]
        if part.get("thought") is not True and part.get("text")
    ]


def _without_reasons(stream: Stream, site: int) -> Stream:
    """Neither the whole event nor its fragments have the reason."""
    for place in places_with("finishReason")(stream):
        if place <= site:
            stream = stream.without_value(place, ("finishReason",))
    return stream


def _parts(change: Callable[[list[Part]], list[Part]]) -> Edit:
    """An event with other parts."""

    def edited(stream: Stream, site: int) -> Stream:
        return stream.with_value(site, _PARTS, change(stream.list_at(site, *_PARTS)))

    return edited


def _doubled_text(parts: list[Part]) -> list[Part]:
    return [{**part, "text": part["text"] * 2} if part.get("text") else part for part in parts]


OPERATORS.add("X3-whole-doubled", "A whole event says its texts twice.")(
    _whole_with("text"), _parts(_doubled_text)
)
OPERATORS.add("U4-no-finish-reason", "Nothing says why the model stopped.")(
    _last_words, _without_reasons
)

MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_fragment_deltas,
        error=lambda message, code: {
            "error": message,
            "error_details": {"error_type": code, "error_message": message},
        },
        reasoning_tokens=(_COUNT,),
        opaque=_signature,
        refuses=frozenset({"empty delta", "ping"}),
        restates=True,
        elements={"adk.part": (*_PARTS, 0)},
    ),
    (*OPERATORS, *operator_rows(__file__, globals())),
)
