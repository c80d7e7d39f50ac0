"""Streams at the edge of the standard, made of a recorded one.

Each is what the WHATWG algorithm reads without doubt and what readers in the wild get wrong.
Rule 1: the payloads stay what they are, except texts that a model may send and that readers of
lines or of ASCII tear or drop: a client never has to make sense of other ones.
Rule 2: what a reader must not see says so: it holds `POISON`, in the form of a delta.
https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation; the
cases are those of web-platform-tests (eventsource/) and of LaunchDarkly's sse-contract-tests as far
as they can be put around payloads, and some that neither has: tests/vectors/sse names each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from operator import methodcaller
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import Exchange, Response
from conformance.core.json_values import NOT_JSON
from conformance.dialects import WIRE_KEYS, get
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

BYTEWISE: Final = "bytes:1"
POISON: Final = "not to be read"
_BOM: Final = b"\xef\xbb\xbf"
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
# Fields whose text a client shows; ids and names stay as they are.
_SPOKEN: Final = frozenset(WIRE_KEYS.shown)


class EdgeCase(Struct, frozen=True):
    """A stream under a name; `chunking` as replay options spell it."""

    name: str
    exchange: Exchange
    chunking: str = "recorded"


def edge_cases(stream: Stream) -> Iterator[EdgeCase]:
    places = [place for place, piece in enumerate(stream.pieces) if piece.kind == "event"]
    if stream.is_body or not places:
        return
    yield from _respelled_texts(stream)
    poison = json.dumps(_poisoned_payload(stream), ensure_ascii=False).encode()

    def inserted(place: int, blocks: Mapping[str, bytes]) -> Iterator[EdgeCase]:
        for name, block in blocks.items():
            piece = Piece(block.replace(_HERE, poison))
            yield EdgeCase(name, stream.insert(place, piece).result())

    yield from inserted(places[:2][-1], _BLOCKS)
    yield from _respelled_lines(stream)
    yield from inserted(0, _BEGINNINGS)
    yield from _cut_otherwise(stream)
    if stream.exchange.end == "eof":
        yield from inserted(len(stream.pieces), _ENDINGS)
        yield EdgeCase("A-unfinished-event", _without_last_end(stream, places[-1]))
    yield EdgeCase("A-charset", _of_another_charset(stream))


def _cut_otherwise(stream: Stream) -> Iterator[EdgeCase]:
    """Line ends and byte order marks, torn apart where they have several bytes."""
    yield EdgeCase("A-bom-bytewise", stream.insert(0, Piece(_BOM)).result(), BYTEWISE)
    yield EdgeCase("A-crlf-bytewise", _ending_lines(stream, b"\r\n"), BYTEWISE)
    yield EdgeCase("A-cr-bytewise", _ending_lines(stream, b"\r"), BYTEWISE)
    yield EdgeCase("A-mixed-line-ends", _ending_lines(stream, b"\n", b"\r\n", b"\r"))
    yield EdgeCase("A-one-chunk", stream.exchange, f"bytes:{max(1, len(stream.body))}")


def _ending_lines(stream: Stream, *ends: bytes) -> Exchange:
    """The stream with other line ends, those of its events in turn."""
    pieces = [
        replace(piece, raw=_LINE_END.sub(end, piece.raw))
        for piece, end in zip(stream.pieces, cycle(ends), strict=False)
    ]
    return stream.with_pieces(pieces).result()


def _without_last_end(stream: Stream, last: int) -> Exchange:
    """The last event lost its blank line: by the standard it was never sent."""
    *kept, piece = stream.pieces[: last + 1]
    raw = piece.raw.rstrip(b"\r\n") + b"\n"
    return stream.with_pieces([*kept, replace(piece, raw=raw)]).result()


def _of_another_charset(stream: Stream) -> Exchange:
    """Event streams are UTF-8, whatever the head says."""
    made = _change_texts(stream, methodcaller("replace", " ", "\u00e9")).result()
    response = made.response or Response()
    kept = [pair for pair in response.headers if pair[0].lower() != "content-type"]
    headers = (*kept, ("content-type", "text/event-stream;charset=windows-1252"))
    return replace(made, response=replace(response, headers=headers))


# Where a delta that must not be read is put.
_HERE: Final = b"@POISON@"
# Line ends to str.splitlines() of Python and to some readers of characters, not to the standard.
_NO_LINE_ENDS: Final = ("\v", "\f", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029")

_BEGINNINGS: Final = {
    "A-comment-first": b": hello\n",
    "A-bom-and-comment": _BOM + b": hello\n",
    "A-bom-double": _BOM + _BOM + b"data: @POISON@\n\n",
}
_ENDINGS: Final = {
    "A-comment-last": b": bye",
    "A-id-last": b"id: 7\n\n",
    "A-block-without-end": b"id: 9\ndata: @POISON@\n",
    "A-character-without-end": b"data: \xe2\x80",
}
# Blocks that dispatch nothing, to be between two events.
_BLOCKS: Final = {
    "A-block-without-data": b"event: ping\n\n",
    "A-only-an-id": b"id: 7\n\n",
    "A-id-non-ascii": "id: \u2026\n\n".encode(),
    "A-id-with-nul": b"id: 7\0\n\nid: \0\n\n",
    "A-id-emptied": b"id: 7\n\nid\n\nid:\n\n",
    "A-unknown-field": b"weather: fine\n\n",
    "A-line-without-colon": b"justsometext\n\n",
    "A-name-in-another-case": b"Data: @POISON@\nDATA: @POISON@\n\n",
    "A-name-with-space": b" data: @POISON@\ndata : @POISON@\n\n",
    "A-name-that-goes-on": b"data_5: @POISON@\nda-ta: @POISON@\ndatas: @POISON@\n\n",
    "A-name-with-nul": b"data\0: @POISON@\n\0data: @POISON@\n\n",
    "A-bom-mid-stream": b"\xef\xbb\xbfdata: @POISON@\n\n",
    "A-comment-like-done": b": data: [DONE]\n\n",
    "A-comments": b":\n:\0\n:" + b"x" * 2048 + b"\n:data: @POISON@\n:data: @POISON@\r\n\n",
    "A-comments-that-go-on": b"".join(
        b": a" + each.encode() + b"data: @POISON@\n\n" for each in _NO_LINE_ENDS
    ),
    "A-retry-empty": b"retry\n\nretry:\n\n",
    "A-retry-bogus": b"retry: bogus\n\nretry: 1000x\n\n",
    "A-retry-signed": b"retry: +5\nretry: -5\nretry: 5.0\nretry: 0x10\n\n",
    "A-retry-fullwidth": "retry: \uff11\uff10\uff10\n\n".encode(),
    "A-retry-trailing-space": b"retry: 100 \n\n",
    "A-retry-leading-zero": b"retry: 03000\n\n",
}

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
_STAND_IN: Final = "\ue000"


def _respelled_texts(stream: Stream) -> Iterator[EdgeCase]:
    """The stream with other texts, where there is a blank to change."""
    for name, character in _CHARACTERS.items():
        made = _change_texts(stream, methodcaller("replace", " ", character))
        if made.body != stream.body:
            chunking = BYTEWISE if name == "A-4-bytes" else "recorded"
            yield EdgeCase(name, made.result(), chunking)
    held = _change_texts(stream, methodcaller("replace", " ", _STAND_IN))
    for name, wrong in _BYTES.items() if held.body != stream.body else ():
        raws = (piece.raw.replace(_STAND_IN.encode(), wrong) for piece in held.pieces)
        pieces = [replace(piece, raw=raw) for piece, raw in zip(held.pieces, raws, strict=True)]
        yield EdgeCase(name, held.with_pieces(pieces).result())
    yield from _only_a_space(stream)


def _only_a_space(stream: Stream) -> Iterator[EdgeCase]:
    """A delta that is one blank, after one with text that is in a list."""
    lists = get(stream.dialect).keys.unrolled
    for place, piece in stream.events():
        is_chunk = isinstance(piece.payload, dict) and any(key in piece.payload for key in lists)
        blank = _changed_texts(piece.payload, lambda text: " " if text else text)
        if is_chunk and blank != piece.payload:
            made = stream.insert(place + 1, piece.with_payload(blank))
            yield EdgeCase("A-only-a-space", made.result())
            return


def _poisoned_payload(stream: Stream) -> Any:
    """The payload of the first delta that says something, saying what must not be read."""
    for _, piece in stream.events():
        payload = _changed_texts(piece.payload, lambda text: POISON if text else text)
        if payload != piece.payload:
            return payload
    return {}


def _change_texts(stream: Stream, change: Callable[[str], str]) -> Stream:
    """The stream with its spoken texts changed, written without escapes."""
    changed = ((piece, _changed_texts(piece.payload, change)) for piece in stream.pieces)
    return stream.with_pieces(
        [piece if new == piece.payload else piece.with_payload(new) for piece, new in changed]
    )


def _changed_texts(value: Any, change: Callable[[str], str], key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _changed_texts(inner, change, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_changed_texts(inner, change, key) for inner in value]
    return change(value) if isinstance(value, str) and key in _SPOKEN else value


# Other ways of writing the lines of an event, which all say the same.

_DATA: Final = re.compile(rb"(?m)^data: ?(?=[{\[])")
_CLOSED: Final = re.compile(rb"(?m)(?<=[}\]])(?=\r?$)")
_LineEdit = Callable[[bytes], bytes]


def _each_data(start: bytes) -> _LineEdit:
    """Another beginning of the line of data; the blank before JSON says nothing."""
    return lambda raw: _DATA.sub(lambda _: start, raw, count=1)


def _data_first(raw: bytes) -> bytes:
    """The data before the other fields, and an id after it."""
    lines = raw.rstrip(b"\r\n").split(b"\n")
    data = [line for line in lines if line.startswith(b"data")]
    rest = [line for line in lines if not line.startswith(b"data")]
    return b"\n".join([*data, b"id: abc", *rest, b"", b""])


_EDITS: Final[Mapping[str, _LineEdit]] = {
    "A-extra-space": _each_data(b"data:  "),
    "A-tab": _each_data(b"data:\t"),
    "A-trailing-space": lambda raw: _CLOSED.sub(b" ", raw, count=1),
    "A-empty-lines-first": _each_data(b"data\ndata:\ndata: "),
    "A-empty-line-inside": lambda raw: raw.replace(b"{", b"{\ndata:\ndata: ", 1),
    "A-data-first": _data_first,
    "A-id-of-each": lambda raw: b"id: 7\n" + raw,
}
# Only one name of an event counts, the last; an empty one is none.
_OF_NAMED: Final[Mapping[str, _LineEdit]] = {"A-last-name-wins": lambda raw: b"event: ping\n" + raw}
_OF_UNNAMED: Final[Mapping[str, _LineEdit]] = {"A-empty-name": lambda raw: b"event: \n" + raw}


def _respelled_lines(stream: Stream) -> Iterator[EdgeCase]:
    """The stream with the lines of every event written in another way."""
    named = any(piece.name for _, piece in stream.events())
    for name, edit in {**_EDITS, **(_OF_NAMED if named else _OF_UNNAMED)}.items():
        made = stream.with_pieces([_edited_piece(piece, edit) for piece in stream.pieces])
        if made.body != stream.body:
            yield EdgeCase(name, made.result())


def _edited_piece(piece: Piece, edit: _LineEdit) -> Piece:
    if piece.payload is NOT_JSON or piece.kind != "event":
        return piece
    return replace(piece, raw=edit(piece.raw))
