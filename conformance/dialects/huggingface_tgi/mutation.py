"""Mutation of `huggingface.tgi`: where its tokens hold what, and operators on the last event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.core.json_values import text_at, value_at
from conformance.editing.edits import drop_piece, drop_value, places_with, raise_value, set_value
from conformance.editing.layout import Delta, StreamLayout
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()


def _last(stream: Stream) -> list[int]:
    return [n for n in places_with("generated_text")(stream) if stream.value_at(n, "token")]


def _token_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    """The texts of tokens that are not special: those are no part of the whole text."""
    text = text_at(piece.payload, "token", "text")
    if text and value_at(piece.payload, "token", "special") is not True:
        yield Delta(place, (("token", "text"),), "text", ("token",), text)


def _error(message: str, code: str) -> dict[str, Any]:
    return {"error": message, "error_type": code or "generation"}


def _special(stream: Stream) -> list[int]:
    return [n for n in places_with("token")(stream) if stream.value_at(n, "token", "special")]


OPERATORS.add("X22-last-lost", "The event with the whole text is lost.")(_last, drop_piece)
OPERATORS.add("X22-whole-text-cut", "The whole text lacks its end.")(
    _last,
    lambda stream, site: stream.with_value(
        site, ("generated_text",), stream.text_at(site, "generated_text")[:-2]
    ),
)
OPERATORS.add("X2-end-token-shown", "The token that ends the text is not marked as special.")(
    _special, set_value(False, "token", "special")
)
OPERATORS.add("N10-no-special", "A token does not say whether it is special.")(
    places_with("token"), drop_value("token", "special")
)
OPERATORS.add("N10-token-is-text", "A token is a text.")(
    places_with("token"), set_value("a", "token")
)
OPERATORS.add("U3-other-reason", "The reason to finish is that of another API.")(
    places_with("details"), set_value("stop", "details", "finish_reason")
)
OPERATORS.add("U4-no-reason", "The details do not say why the text ended.")(
    places_with("details"), drop_value("details", "finish_reason")
)
OPERATORS.add("U6-counted-more", "One token more is counted than was sent.")(
    places_with("details", "input_length"), raise_value("details", "generated_tokens")
)

MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_token_deltas,
        error=_error,
        refuses=frozenset({"empty delta", "ping", "split delta"}),
        number="index",
    ),
    tuple(OPERATORS),
)
