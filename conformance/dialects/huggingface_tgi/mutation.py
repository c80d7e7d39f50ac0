"""Mutation of `huggingface.tgi`: where its tokens hold what, and operators on the last event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.core.json_values import text_at, value_at
from conformance.editing.edits import places_with
from conformance.editing.layout import Delta, StreamLayout
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()


def _last(stream: Stream) -> list[int]:
    return [n for n in places_with("generated_text")(stream) if stream.value_at(n, "token")]


def _last_alone(stream: Stream) -> list[int]:
    asked = stream.exchange.request
    is_whole = asked and value_at(asked.json, "parameters", "return_full_text") is True
    return [] if is_whole else _last(stream)


def _token_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    """The texts of tokens that are not special: those are no part of the whole text."""
    text = text_at(piece.payload, "token", "text")
    if text and value_at(piece.payload, "token", "special") is not True:
        yield Delta(place, (("token", "text"),), "text", ("token",), text)


def _special(stream: Stream) -> list[int]:
    return [n for n in places_with("token")(stream) if stream.value_at(n, "token", "special")]


OPERATORS.add("X22-whole-text-cut", "The whole text lacks its end.")(
    _last,
    lambda stream, site: stream.with_value(
        site, ("generated_text",), stream.text_at(site, "generated_text")[:-2]
    ),
)

MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_token_deltas,
        error=lambda message, code: {"error": message, "error_type": code or "generation"},
        refuses=frozenset({"empty delta", "ping", "split delta"}),
        number="index",
    ),
    (*OPERATORS, *operator_rows(__file__, globals())),
)
