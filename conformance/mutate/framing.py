"""Operators on framing bytes: what every event stream may look like, and what none may."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from conformance.core.events import Chunk, Response
from conformance.core.json_values import value_at
from conformance.editing.edits import request_body, whole_stream
from conformance.editing.operator import Edit, Operator
from conformance.editing.piece import Piece, line_end
from conformance.editing.stream import Stream

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_FIELD_SPACE: Final = re.compile(rb"(?m)^(data|event|id|retry): (?! )")
_BOM: Final = b"\xef\xbb\xbf"
_SMALL: Final = 4096
_STRIDE: Final = 7


def _event_places(stream: Stream) -> list[int]:
    return [n for n, piece in enumerate(stream.pieces) if piece.kind == "event"]


def _event_stream(stream: Stream) -> Sequence[int]:
    """One place, where the response is an event stream that holds events."""
    return () if stream.is_body or not _event_places(stream) else (0,)


def _text_stream(stream: Stream) -> Sequence[int]:
    """As `_event_stream`, and lines of JSON too."""
    is_lined = any(piece.kind == "line" for piece in stream.pieces)
    return (0,) if is_lined else _event_stream(stream)


def _complete_stream(stream: Stream) -> Sequence[int]:
    return _event_stream(stream) if stream.exchange.end == "eof" else ()


def _is_object(piece: Piece) -> bool:
    return isinstance(piece.payload, dict) and bool(piece.payload) and b'{"' in piece.raw


def _object_events(stream: Stream) -> list[int]:
    """Events that hold more than an empty object."""
    return [n for n in _event_places(stream) if _is_object(stream.pieces[n])]


def _objects(stream: Stream) -> list[int]:
    """As `_object_events`, and lines too."""
    found = [n for n, piece in enumerate(stream.pieces) if piece.kind in {"event", "line"}]
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


def _add_mark(stream: Stream, _site: int) -> Stream | None:
    return None if stream.body.startswith(_BOM) else stream.insert(0, Piece(_BOM))


def _comment_inside(stream: Stream, site: int) -> Stream:
    raw = stream.pieces[site].raw
    first = _LINE_END.search(raw)
    cut = first.end() if first else len(raw)
    inside = b": keep-alive" + line_end(stream.body)
    return _rewrite_piece(stream, site, raw[:cut] + inside + raw[cut:])


def _break_data_line(stream: Stream, site: int) -> Stream:
    """JSON may hold a line end after its first brace."""
    new = b"{" + line_end(stream.body) + b"data: "
    return _rewrite_piece(stream, site, stream.pieces[site].raw.replace(b"{", new, 1))


def _retry_first(stream: Stream, _site: int) -> Stream | None:
    return _insert_block(b"retry: 3000")(stream, _event_places(stream)[0])


def _with_id(stream: Stream, site: int) -> Stream:
    raw = stream.pieces[site].raw
    return _rewrite_piece(stream, site, b"id: 7" + line_end(stream.body) + raw)


def _ids_harmless(stream: Stream) -> list[int]:
    return _event_places(stream) if stream.layout.event_ids else []


def _ids_advised_against(stream: Stream) -> list[int]:
    return [] if stream.layout.event_ids else _event_places(stream)


def _more_blank_lines(stream: Stream, site: int) -> Stream:
    raw = stream.pieces[site].raw
    return _rewrite_piece(stream, site, raw + line_end(stream.body) * 2)


def _cut_chunks(stream: Stream, size: int) -> Stream:
    body = stream.body
    chunks = (Chunk(body[n : n + size], 0.0) for n in range(0, len(body), size))
    return replace(stream, exchange=replace(stream.exchange, chunks=tuple(chunks)))


def _byte_by_byte(stream: Stream, _site: int) -> Stream:
    return _cut_chunks(stream, 1 if len(stream.body) <= _SMALL else _STRIDE)


def _in_one_piece(stream: Stream, _site: int) -> Stream:
    return _cut_chunks(stream, max(1, len(stream.body)))


def _leave_unfinished(stream: Stream, _site: int) -> Stream:
    last = _event_places(stream)[-1]
    kept = stream.with_pieces(stream.pieces[: last + 1])
    raw = kept.pieces[last].raw.rstrip(b"\r\n") + line_end(stream.body)
    return _rewrite_piece(kept, last, raw)


def _break_character(stream: Stream, site: int) -> Stream:
    """The first byte of the payload's first string is one that no character has."""
    raw = stream.pieces[site].raw
    spot = raw.index(b'{"') + 2
    return _rewrite_piece(stream, site, raw[:spot] + b"\xff" + raw[spot:])


def _halve_payload(stream: Stream, site: int) -> Stream:
    raw = stream.pieces[site].raw
    spot = raw.index(b'{"') + 1
    between = line_end(stream.body) * 2 + b"data: "
    return _rewrite_piece(stream, site, raw[:spot] + between + raw[spot:])


def _shorten_payload(stream: Stream, site: int) -> Stream:
    raw = stream.pieces[site].raw
    spot = raw.rindex(b"}")
    return _rewrite_piece(stream, site, raw[:spot] + raw[spot + 1 :])


def _requested_stream(stream: Stream) -> Sequence[int]:
    response = stream.exchange.response
    is_requested = value_at(request_body(stream), "stream") is True
    return _event_stream(stream) if is_requested and response and response.status == 200 else ()


def _mislabel(stream: Stream, _site: int) -> Stream:
    response = stream.exchange.response or Response()
    kept = (pair for pair in response.headers if pair[0].lower() != "content-type")
    response = replace(response, headers=(*kept, ("content-type", "text/plain")))
    return replace(stream, exchange=replace(stream.exchange, response=response))


FRAMING: Final = (
    Operator(
        "F1-crlf", "Lines end in CR LF.", _text_stream, _substitute(_LINE_END, b"\r\n"), "pass"
    ),
    Operator("F2-cr", "Lines end in CR.", _event_stream, _substitute(_LINE_END, b"\r"), "pass"),
    Operator(
        "F3-bom", "The stream begins with a byte order mark.", _event_stream, _add_mark, "pass"
    ),
    Operator(
        "F4-comment-between",
        "A comment stands between two events.",
        _event_places,
        _insert_block(b": keep-alive"),
        "pass",
    ),
    Operator(
        "F4-comment-inside",
        "A comment stands between the lines of one event.",
        _event_places,
        _comment_inside,
        "pass",
    ),
    Operator(
        "F5-comment-as-data",
        "A comment is sent as data.",
        _event_places,
        _insert_block(b"data: : GATEWAY PROCESSING"),
    ),
    Operator(
        "F6-no-space",
        "No space follows the colons.",
        _event_stream,
        _substitute(_FIELD_SPACE, rb"\1:"),
        "pass",
    ),
    Operator(
        "F7-several-data-lines",
        "One payload stands on two data lines.",
        _object_events,
        _break_data_line,
        "pass",
    ),
    Operator("F8-byte-by-byte", "Every byte comes alone.", _text_stream, _byte_by_byte, "pass"),
    Operator("F8-in-one-piece", "Everything comes at once.", whole_stream, _in_one_piece, "pass"),
    Operator(
        "F9-no-last-blank-line",
        "The last event is not closed.",
        _complete_stream,
        _leave_unfinished,
    ),
    Operator(
        "F10-error-field",
        "An error comes as a field `error`.",
        _event_places,
        _insert_block(b'error: {"message":"overloaded"}'),
    ),
    Operator("F13-broken-character", "A byte is no UTF-8.", _objects, _break_character),
    Operator(
        "F14-halved-payload", "One payload is sent as two events.", _object_events, _halve_payload
    ),
    Operator("F15-shortened-payload", "A payload lost its last brace.", _objects, _shorten_payload),
    Operator("F16-mislabelled", "The stream is labelled text/plain.", _requested_stream, _mislabel),
    Operator("F17-retry", "A reconnection time comes first.", _event_stream, _retry_first, "pass"),
    Operator("F18-event-id", "An event has an id.", _ids_harmless, _with_id, "pass"),
    Operator("F18-advised-against", "An event has an id.", _ids_advised_against, _with_id),
    Operator(
        "F19-blank-lines",
        "More blank lines follow an event.",
        _event_places,
        _more_blank_lines,
        "pass",
    ),
)
