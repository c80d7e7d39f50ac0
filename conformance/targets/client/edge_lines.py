"""Other ways of writing the lines of an event, which all say the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from conformance.core.json_values import NOT_JSON
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

_DATA: Final = re.compile(rb"(?m)^data: ?(?=[{\[])")
_CLOSED: Final = re.compile(rb"(?m)(?<=[}\]])(?=\r?$)")
_Edit = Callable[[bytes], bytes]


def _each_data(start: bytes) -> _Edit:
    """Another beginning of the line of data; the blank before JSON says nothing."""
    return lambda raw: _DATA.sub(lambda _: start, raw, count=1)


def _data_first(raw: bytes) -> bytes:
    """The data before the other fields, and an id behind it."""
    lines = raw.rstrip(b"\r\n").split(b"\n")
    data = [line for line in lines if line.startswith(b"data")]
    rest = [line for line in lines if not line.startswith(b"data")]
    return b"\n".join([*data, b"id: abc", *rest, b"", b""])


_EDITS: Final[Mapping[str, _Edit]] = {
    "A-extra-space": _each_data(b"data:  "),
    "A-tab": _each_data(b"data:\t"),
    "A-trailing-space": lambda raw: _CLOSED.sub(b" ", raw, count=1),
    "A-empty-lines-first": _each_data(b"data\ndata:\ndata: "),
    "A-empty-line-inside": lambda raw: raw.replace(b"{", b"{\ndata:\ndata: ", 1),
    "A-data-first": _data_first,
    "A-id-of-each": lambda raw: b"id: 7\n" + raw,
}
# Only one name of an event counts, the last; an empty one is none.
_OF_NAMED: Final[Mapping[str, _Edit]] = {"A-last-name-wins": lambda raw: b"event: ping\n" + raw}
_OF_UNNAMED: Final[Mapping[str, _Edit]] = {"A-empty-name": lambda raw: b"event: \n" + raw}


def relined(stream: Stream) -> Iterator[tuple[str, Stream]]:
    """The stream with the lines of every event written in another way."""
    named = any(piece.name for _, piece in stream.events())
    for name, edit in {**_EDITS, **(_OF_NAMED if named else _OF_UNNAMED)}.items():
        made = stream.with_pieces([_edited(piece, edit) for piece in stream.pieces])
        if made.body != stream.body:
            yield name, made


def _edited(piece: Piece, edit: _Edit) -> Piece:
    if piece.payload is NOT_JSON or piece.kind != "event":
        return piece
    return replace(piece, raw=edit(piece.raw))
