"""Texts that a model may send, and that readers of lines or of ASCII tear or drop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from conformance.core.json_values import NOT_JSON
from conformance.dialects import WIRE_KEYS, get
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

POISON: Final = "not to be read"
# What stands for a blank. The first three are line ends to str.splitlines(), not to the standard.
_CHARACTERS: Final = {
    "A-u2028": "\u2028",
    "A-u2029": "\u2029",
    "A-u0085": "\u0085",
    "A-nbsp": "\u00a0",
    "A-bom-in-text": "\ufeff",
    "A-4-bytes": "\U0001f9e0",
}
# No UTF-8: each maximal part of a character that never was is read as U+FFFD.
_BYTES: Final = {
    "A-invalid-utf8": b"\xff",
    "A-overlong-utf8": b"\xc0\xaf",
    "A-surrogate-utf8": b"\xed\xa0\x80",
}
BYTEWISE: Final = frozenset({"A-4-bytes"})
_STAND_IN: Final = "\ue000"
# Fields whose text a client shows; ids and names stay as they are.
_SPOKEN: Final = frozenset(WIRE_KEYS.shown)


def respelled_texts(stream: Stream) -> Iterator[tuple[str, Stream]]:
    """The stream with other texts, where there is a blank to change."""
    for name, character in _CHARACTERS.items():
        made = change_texts(stream, partial(_replace_blanks, character))
        if made.body != stream.body:
            yield name, made
    held = change_texts(stream, partial(_replace_blanks, _STAND_IN))
    for name, wrong in _BYTES.items():
        raw = [piece.raw.replace(_STAND_IN.encode(), wrong) for piece in held.pieces]
        if held.body != stream.body:
            pieces = zip(held.pieces, raw, strict=True)
            yield name, held.with_pieces([replace(piece, raw=new) for piece, new in pieces])
    yield from _only_a_space(stream)


def change_texts(stream: Stream, change: Callable[[str], str]) -> Stream:
    """The stream with its spoken texts changed, written without escapes."""
    return stream.with_pieces([_changed_piece(piece, change) for piece in stream.pieces])


def poisoned_payload(stream: Stream) -> Any:
    """The payload of the first delta that says something, saying what must not be read."""
    for _, piece in stream.events():
        payload = _changed_texts(piece.payload, _poison_text)
        if payload != piece.payload:
            return payload
    return {}


def _replace_blanks(character: str, text: str) -> str:
    return text.replace(" ", character)


def _poison_text(text: str) -> str:
    return POISON if text else text


def _only_a_space(stream: Stream) -> Iterator[tuple[str, Stream]]:
    """A delta that is one blank, behind one that says something and stands in a list."""
    for place, piece in stream.events():
        lists = get(stream.dialect).keys.unrolled
        is_chunk = isinstance(piece.payload, dict) and any(key in piece.payload for key in lists)
        blank = _changed_texts(piece.payload, lambda text: " " if text else text)
        if is_chunk and blank != piece.payload:
            yield "A-only-a-space", stream.insert(place + 1, piece.with_payload(blank))
            return


def _changed_piece(piece: Piece, change: Callable[[str], str]) -> Piece:
    if piece.payload is NOT_JSON or piece.kind != "event":
        return piece
    payload = _changed_texts(piece.payload, change)
    if payload == piece.payload:
        return piece
    data = b"data: " + json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
    lines = [line for line in piece.raw.splitlines() if line and not line.startswith(b"data")]
    return replace(piece, raw=b"\n".join([*lines, data, b"", b""]), payload=payload)


def _changed_texts(value: Any, change: Callable[[str], str], key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _changed_texts(inner, change, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_changed_texts(inner, change, key) for inner in value]
    return change(value) if isinstance(value, str) and key in _SPOKEN else value
