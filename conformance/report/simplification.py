"""Shorter streams with the same meaning: tried before events are left out one by one.

Rule 1: neighbouring deltas that differ only in their columns become one delta.
Rule 2: an output item is removed as a whole: its events and its entry in the stated output; the
indices of later items move down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from conformance.core.json_values import NOT_JSON, cut_at, list_at, put_at, text_at, value_at
from conformance.dialects import get
from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.wire_keys import ItemPlaces
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

_MOST_ITEMS: Final = 64


def merge_deltas(stream: Stream, read_as: Reading) -> list[Piece]:
    columns_of = get(stream.dialect).columns
    merged: list[Piece] = []
    is_delta = False  # whether the last one of `merged` is
    for piece in stream.pieces:
        columns = columns_of(piece.payload, read_as) if piece.payload is not NOT_JSON else None
        if is_delta and columns is not None and _is_same_run(merged[-1], piece, columns):
            held = merged[-1]
            text = _column_text(held, columns.text) + _column_text(piece, columns.text)
            payload = held.payload
            for path in (columns.text, *columns.mirrors):
                payload = put_at(payload, _column_path(path), text)
            merged[-1] = held.with_payload(payload)
        else:
            merged.append(piece)
            is_delta = columns is not None
    return merged


def without_items(pieces: Sequence[Piece], dialect: str) -> Iterator[list[Piece]]:
    """The pieces without one output item, once for each, the last item first."""
    places = get(dialect).items
    if places is None:
        return
    indices = [_item_index(piece, places) for piece in pieces]
    numbers = {number for number in indices if number is not None}
    for gone in sorted(numbers, reverse=True)[:_MOST_ITEMS]:
        yield [
            _without_item(piece, gone, places)
            for piece, index in zip(pieces, indices, strict=True)
            if index != gone
        ]


def _is_same_run(one: Piece, other: Piece, columns: DeltaColumns) -> bool:
    if (one.kind, one.name) != (other.kind, other.name):
        return False
    return _without_columns(one, columns) == _without_columns(other, columns) and bool(
        _column_text(one, columns.text)
    )


def _without_columns(piece: Piece, columns: DeltaColumns) -> Any:
    payload = piece.payload
    for path in columns.paths:
        payload = put_at(payload, _column_path(path), None)
    return payload


def _column_text(piece: Piece, path: str) -> str:
    return text_at(piece.payload, *_column_path(path))


def _column_path(path: str) -> tuple[str | int, ...]:
    return tuple(int(step) if step.isdecimal() else step for step in path.split("."))


def _item_index(piece: Piece, places: ItemPlaces) -> int | None:
    number = value_at(piece.payload, places.index)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _without_item(piece: Piece, gone: int, places: ItemPlaces) -> Piece:
    """The piece as it reads where the item of that index never was."""
    number = _item_index(piece, places)
    if number is not None and number > gone:
        return piece.with_payload({**piece.payload, places.index: number - 1})
    if gone < len(list_at(piece.payload, *places.output)):
        return piece.with_payload(cut_at(piece.payload, (*places.output, gone)))
    return piece
