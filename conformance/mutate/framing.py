"""Operators on framing bytes: what every event stream may look like, and what none may."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from conformance.core.binary import MESSAGE_TYPE, with_text_header
from conformance.core.events import STREAMED, Chunk, Response
from conformance.dialects import asks_for_stream
from conformance.editing.edits import whole_stream
from conformance.editing.operator import Edit, OperatorTable
from conformance.editing.piece import Piece, line_end
from conformance.editing.stream import Stream

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_FIELD_SPACE: Final = re.compile(rb"(?m)^(data|event|id|retry): (?! )")
_BOM: Final = b"\xef\xbb\xbf"
_SMALL: Final = 4096
_STRIDE: Final = 7


FRAMING: Final = OperatorTable()


def _event_places(stream: Stream) -> list[int]:
    return [n for n, piece in enumerate(stream.pieces) if piece.kind == "event"]


def _commentable(stream: Stream) -> list[int]:
    return [] if "comment" in stream.layout.refuses else _event_places(stream)


def _event_stream(stream: Stream) -> Sequence[int]:
    """One place, where the response is an event stream that holds events."""
    return () if stream.is_body or not _event_places(stream) else (0,)


def _text_stream(stream: Stream) -> Sequence[int]:
    """As `_event_stream`, and lines of JSON and raw text too."""
    is_lined = any(piece.kind in {"line", "text"} for piece in stream.pieces)
    return (0,) if is_lined else _event_stream(stream)


def _complete_stream(stream: Stream) -> Sequence[int]:
    return _event_stream(stream) if stream.exchange.end == "eof" else ()


def _is_object(piece: Piece) -> bool:
    return isinstance(piece.payload, dict) and bool(piece.payload) and b'{"' in piece.raw


def _object_events(stream: Stream) -> list[int]:
    """Events that hold more than an empty object."""
    return [n for n in _event_places(stream) if _is_object(stream.pieces[n])]


def _object_places(stream: Stream) -> list[int]:
    """As `_object_events`, and lines too."""
    found = [n for n, piece in enumerate(stream.pieces) if piece.kind in STREAMED]
    return [n for n in found if _is_object(stream.pieces[n])]


def _rewrite_piece(stream: Stream, place: int, raw: bytes) -> Stream:
    return stream.swap(place, replace(stream.pieces[place], raw=raw))


def _insert_block(line: bytes) -> Edit:
    """A block of one line, before an event."""

    def edit(stream: Stream, site: int) -> Stream:
        return stream.insert(site, Piece(line + line_end(stream.body) * 2))

    return edit


def _substitute(pattern: re.Pattern[bytes], new: bytes) -> Edit:
    """Other bytes for the same pattern, in the whole stream."""
    return lambda stream, _site: stream.with_pieces(
        [replace(piece, raw=pattern.sub(new, piece.raw)) for piece in stream.pieces]
    )


@FRAMING.edit("F3-bom", _event_stream, "pass")
def _add_mark(stream: Stream, _site: int) -> Stream | None:
    """The stream begins with a byte order mark."""
    return None if stream.body.startswith(_BOM) else stream.insert(0, Piece(_BOM))


@FRAMING.edit("F4-comment-inside", _commentable, "pass")
def _comment_inside(stream: Stream, site: int) -> Stream:
    """A comment is between the lines of one event."""
    raw = stream.pieces[site].raw
    first = _LINE_END.search(raw)
    cut = first.end() if first else len(raw)
    inside = b": keep-alive" + line_end(stream.body)
    return _rewrite_piece(stream, site, raw[:cut] + inside + raw[cut:])


@FRAMING.edit("F7-several-data-lines", _object_events, "pass")
def _break_data_line(stream: Stream, site: int) -> Stream:
    """One payload is on two data lines."""
    # JSON may hold a line end after its first brace.
    new = b"{" + line_end(stream.body) + b"data: "
    return _rewrite_piece(stream, site, stream.pieces[site].raw.replace(b"{", new, 1))


@FRAMING.edit("F17-retry", _event_stream, "pass")
def _retry_first(stream: Stream, _site: int) -> Stream | None:
    """A reconnection time comes first."""
    return _insert_block(b"retry: 3000")(stream, _event_places(stream)[0])


def _with_id(stream: Stream, site: int) -> Stream:
    raw = stream.pieces[site].raw
    return _rewrite_piece(stream, site, b"id: 7" + line_end(stream.body) + raw)


def _ids_harmless(stream: Stream) -> list[int]:
    return _event_places(stream) if stream.layout.event_ids else []


def _ids_advised_against(stream: Stream) -> list[int]:
    return [] if stream.layout.event_ids else _event_places(stream)


@FRAMING.edit("F19-blank-lines", _event_places, "pass")
def _more_blank_lines(stream: Stream, site: int) -> Stream:
    """More blank lines follow an event."""
    raw = stream.pieces[site].raw
    return _rewrite_piece(stream, site, raw + line_end(stream.body) * 2)


def _cut_chunks(stream: Stream, size: int) -> Stream:
    body = stream.body
    chunks = (Chunk(body[n : n + size], 0.0) for n in range(0, len(body), size))
    return replace(stream, exchange=replace(stream.exchange, chunks=tuple(chunks)))


@FRAMING.edit("F8-byte-by-byte", _text_stream, "pass")
def _byte_by_byte(stream: Stream, _site: int) -> Stream:
    """Every byte comes alone."""
    return _cut_chunks(stream, 1 if len(stream.body) <= _SMALL else _STRIDE)


@FRAMING.edit("F9-no-last-blank-line", _complete_stream)
def _leave_unfinished(stream: Stream, _site: int) -> Stream:
    """The last event is not closed."""
    last = _event_places(stream)[-1]
    kept = stream.with_pieces(stream.pieces[: last + 1])
    raw = kept.pieces[last].raw.rstrip(b"\r\n") + line_end(stream.body)
    return _rewrite_piece(kept, last, raw)


@FRAMING.edit("F13-broken-character", _object_places)
def _break_character(stream: Stream, site: int) -> Stream:
    """A byte is no UTF-8."""
    raw = stream.pieces[site].raw
    spot = raw.index(b'{"') + 2
    return _rewrite_piece(stream, site, raw[:spot] + b"\xff" + raw[spot:])


@FRAMING.edit("F14-halved-payload", _object_events)
def _halve_payload(stream: Stream, site: int) -> Stream:
    """One payload is sent as two events."""
    raw = stream.pieces[site].raw
    spot = raw.index(b'{"') + 1
    between = line_end(stream.body) * 2 + b"data: "
    return _rewrite_piece(stream, site, raw[:spot] + between + raw[spot:])


@FRAMING.edit("F15-shortened-payload", _object_places)
def _shorten_payload(stream: Stream, site: int) -> Stream:
    """A payload lost its last brace."""
    raw = stream.pieces[site].raw
    spot = raw.rindex(b"}")
    return _rewrite_piece(stream, site, raw[:spot] + raw[spot + 1 :])


def _requested_stream(stream: Stream) -> Sequence[int]:
    response = stream.exchange.response
    request = stream.exchange.request
    is_requested = request is not None and asks_for_stream(request.path, request.json)
    return _event_stream(stream) if is_requested and response and response.status == 200 else ()


@FRAMING.edit("F16-mislabelled", _requested_stream)
def _mislabel(stream: Stream, _site: int) -> Stream:
    """The stream is labelled text/plain."""
    response = stream.exchange.response or Response()
    kept = (pair for pair in response.headers if pair[0].lower() != "content-type")
    response = replace(response, headers=(*kept, ("content-type", "text/plain")))
    return replace(stream, exchange=replace(stream.exchange, response=response))


def _binary_messages(stream: Stream) -> list[int]:
    return [n for n, piece in enumerate(stream.pieces) if piece.kind == "binary"]


def _flip_bit(at: int) -> Edit:
    def edit(stream: Stream, site: int) -> Stream:
        raw = bytearray(stream.pieces[site].raw)
        raw[at] ^= 1
        return _rewrite_piece(stream, site, bytes(raw))

    return edit


@FRAMING.edit("F21-untyped-message", _binary_messages)
def _leave_type_out(stream: Stream, site: int) -> Stream:
    """A binary message does not say whether it is an event."""
    raw = with_text_header(stream.pieces[site].raw, MESSAGE_TYPE, "")
    return _rewrite_piece(stream, site, raw)


FRAMING.add("F20-wrong-checksum", "The checksum of a binary message is wrong.")(
    _binary_messages, _flip_bit(-1)
)
FRAMING.add("F20-wrong-length", "The length of a binary message is wrong.")(
    _binary_messages, _flip_bit(3)
)
FRAMING.add("F1-crlf", "Lines end in CR LF.", "pass")(_text_stream, _substitute(_LINE_END, b"\r\n"))
FRAMING.add("F2-cr", "Lines end in CR.", "pass")(_event_stream, _substitute(_LINE_END, b"\r"))
FRAMING.add("F4-comment-between", "A comment is between two events.", "pass")(
    _commentable, _insert_block(b": keep-alive")
)
FRAMING.add("F5-comment-as-data", "A comment is sent as data.")(
    _event_places, _insert_block(b"data: : GATEWAY PROCESSING")
)
FRAMING.add("F6-no-space", "No space follows the colons.", "pass")(
    _event_stream, _substitute(_FIELD_SPACE, rb"\1:")
)
FRAMING.add("F10-error-field", "An error comes as a field `error`.")(
    _event_places, _insert_block(b'error: {"message":"overloaded"}')
)
FRAMING.add("F18-event-id", "An event has an id.", "pass")(_ids_harmless, _with_id)
FRAMING.add("F18-advised-against", "An event has an id.")(_ids_advised_against, _with_id)
FRAMING.add("F8-in-one-piece", "Everything comes at once.", "pass")(
    whole_stream, lambda stream, _site: _cut_chunks(stream, max(1, len(stream.body)))
)
