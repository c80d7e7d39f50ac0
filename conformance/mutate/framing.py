"""Operators on framing bytes: what every event stream may look like, and what none may."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from conformance.core.events import Chunk, Exchange, Response
from conformance.mutate.operator import Operator, once
from conformance.mutate.stream import Piece, Stream
from conformance.mutate.texts import CHAT, MESSAGES, RESPONSES

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_FIELD_SPACE: Final = re.compile(rb"(?m)^(data|event|id|retry): (?! )")
_BOM: Final = b"\xef\xbb\xbf"
_SMALL: Final = 4096
_STRIDE: Final = 7


def _streams(stream: Stream) -> Sequence[int]:
    """One place, where the response is an event stream that holds events."""
    return () if stream.is_body or not _framed(stream) else (0,)


def _complete(stream: Stream) -> Sequence[int]:
    return _streams(stream) if stream.exchange.end == "eof" else ()


def _framed(stream: Stream) -> list[int]:
    return [n for n, piece in enumerate(stream.pieces) if piece.kind == "event"]


def _several(stream: Stream) -> list[int]:
    """Events that hold more than an empty object."""
    return [n for n in _framed(stream) if stream.pieces[n].raw.count(b"{") and _object(stream, n)]


def _object(stream: Stream, place: int) -> bool:
    payload = stream.pieces[place].payload
    return isinstance(payload, dict) and bool(payload) and b'{"' in stream.pieces[place].raw


def _remade(stream: Stream, place: int, raw: bytes) -> Stream:
    return stream.swapped(place, replace(stream.pieces[place], raw=raw))


def _with_ends(ending: bytes, stream: Stream) -> Stream:
    pieces = [replace(p, raw=_LINE_END.sub(ending, p.raw)) for p in stream.pieces]
    return stream.with_pieces(pieces)


def _bom(stream: Stream, _site: int) -> Stream | None:
    return None if stream.body.startswith(_BOM) else stream.inserted(0, Piece(_BOM))


def _line_end(stream: Stream) -> bytes:
    ending = _LINE_END.search(stream.body)
    return ending[0] if ending else b"\n"


def _block(stream: Stream, *lines: bytes) -> Piece:
    ending = _line_end(stream)
    return Piece(b"".join(line + ending for line in (*lines, b"")))


def _comment_between(stream: Stream, site: int) -> Stream:
    return stream.inserted(site, _block(stream, b": keep-alive"))


def _comment_inside(stream: Stream, site: int) -> Stream:
    raw = stream.pieces[site].raw
    first = _LINE_END.search(raw)
    cut = first.end() if first else len(raw)
    inside = b": keep-alive" + _line_end(stream)
    return _remade(stream, site, raw[:cut] + inside + raw[cut:])


def _comment_as_data(stream: Stream, site: int) -> Stream:
    return stream.inserted(site, _block(stream, b"data: : GATEWAY PROCESSING"))


def _no_space(stream: Stream, _site: int) -> Stream:
    return stream.with_pieces(
        [replace(p, raw=_FIELD_SPACE.sub(rb"\1:", p.raw)) for p in stream.pieces]
    )


def _several_lines(stream: Stream, site: int) -> Stream:
    """JSON may hold a line end after its first brace."""
    raw = stream.pieces[site].raw
    return _remade(stream, site, raw.replace(b"{", b"{" + _line_end(stream) + b"data: ", 1))


def _retry(stream: Stream, _site: int) -> Stream:
    return stream.inserted(_framed(stream)[0], _block(stream, b"retry: 3000"))


def _event_id(stream: Stream, site: int) -> Stream:
    raw = stream.pieces[site].raw
    return _remade(stream, site, b"id: 7" + _line_end(stream) + raw)


def _blank_lines(stream: Stream, site: int) -> Stream:
    return _remade(stream, site, stream.pieces[site].raw + _line_end(stream) * 2)


def _chunked(stream: Stream, size: int) -> Stream:
    body = stream.body
    cuts = range(0, len(body), size)
    return replace(
        stream,
        exchange=replace(
            stream.exchange, chunks=tuple(Chunk(body[n : n + size], 0.0) for n in cuts)
        ),
    )


def _byte_by_byte(stream: Stream, _site: int) -> Stream:
    return _chunked(stream, 1 if len(stream.body) <= _SMALL else _STRIDE)


def _in_one_piece(stream: Stream, _site: int) -> Stream:
    return _chunked(stream, max(1, len(stream.body)))


def _unfinished(stream: Stream, _site: int) -> Stream:
    last = _framed(stream)[-1]
    kept = stream.pieces[: last + 1]
    ending = _line_end(stream)
    raw = kept[-1].raw.rstrip(b"\r\n") + ending
    return stream.with_pieces([*kept[:-1], replace(kept[-1], raw=raw)])


def _error_field(stream: Stream, site: int) -> Stream:
    return stream.inserted(site, _block(stream, b'error: {"message":"overloaded"}'))


def _misnamed(stream: Stream, site: int) -> Stream:
    return stream.swapped(site, stream.pieces[site].named("message.delta"))


def _typed(stream: Stream) -> list[int]:
    return [n for n, piece in stream.events() if piece.type and piece.kind == "event"]


def _named(stream: Stream) -> list[int]:
    return [n for n in _typed(stream) if stream.pieces[n].name]


def _unnamed(stream: Stream, site: int) -> Stream:
    return stream.swapped(site, stream.pieces[site].named(""))


def _broken_character(stream: Stream, site: int) -> Stream:
    """The last byte of the payload's first string is one that no character has."""
    raw = stream.pieces[site].raw
    spot = raw.index(b'{"') + 2
    return _remade(stream, site, raw[:spot] + b"\xff" + raw[spot:])


def _halved(stream: Stream, site: int) -> Stream:
    raw = stream.pieces[site].raw
    spot = raw.index(b'{"') + 1
    between = _line_end(stream) * 2 + b"data: "
    return _remade(stream, site, raw[:spot] + between + raw[spot:])


def _shortened(stream: Stream, site: int) -> Stream:
    raw = stream.pieces[site].raw
    spot = raw.rindex(b"}")
    return _remade(stream, site, raw[:spot] + raw[spot + 1 :])


def _labelled(content_type: str, exchange: Exchange) -> Exchange:
    response = exchange.response or Response()
    kept = [pair for pair in response.headers if pair[0].lower() != "content-type"]
    headers = (*kept, ("content-type", content_type))
    return replace(exchange, response=replace(response, headers=headers))


def _asked_for_stream(stream: Stream) -> Sequence[int]:
    request, response = stream.exchange.request, stream.exchange.response
    asked = request.json if request is not None else None
    is_stream = isinstance(asked, dict) and asked.get("stream") is True
    return _streams(stream) if is_stream and response and response.status == 200 else ()


def _mislabelled(stream: Stream, _site: int) -> Stream:
    return replace(stream, exchange=_labelled("text/plain", stream.exchange))


FRAMING: Final = (
    Operator(
        "F1-crlf",
        "Lines end in CR LF.",
        _streams,
        lambda stream, _: _with_ends(b"\r\n", stream),
        must="pass",
    ),
    Operator("F2-cr", "Lines end in CR.", _streams, lambda s, _: _with_ends(b"\r", s), must="pass"),
    Operator("F3-bom", "The stream begins with a byte order mark.", _streams, _bom, must="pass"),
    Operator(
        "F4-comment-between",
        "A comment stands between two events.",
        _framed,
        _comment_between,
        must="pass",
    ),
    Operator(
        "F4-comment-inside",
        "A comment stands between the lines of one event.",
        _framed,
        _comment_inside,
        must="pass",
    ),
    Operator("F5-comment-as-data", "A comment is sent as data.", _framed, _comment_as_data),
    Operator("F6-no-space", "No space follows the colons.", _streams, _no_space, must="pass"),
    Operator(
        "F7-several-data-lines",
        "One payload stands on two data lines.",
        _several,
        _several_lines,
        must="pass",
    ),
    Operator("F8-byte-by-byte", "Every byte comes alone.", _streams, _byte_by_byte, must="pass"),
    Operator("F8-in-one-piece", "Everything comes at once.", once, _in_one_piece, must="pass"),
    Operator("F9-no-last-blank-line", "The last event is not closed.", _complete, _unfinished),
    Operator("F10-error-field", "An error comes as a field `error`.", _framed, _error_field),
    Operator(
        "F11-misnamed",
        "The event line names another type than the payload.",
        _typed,
        _misnamed,
        (RESPONSES, MESSAGES),
    ),
    Operator(
        "F12-unnamed", "An event lost its event line.", _named, _unnamed, (RESPONSES, MESSAGES)
    ),
    Operator("F13-broken-character", "A byte is no UTF-8.", _several, _broken_character),
    Operator("F14-halved-payload", "One payload is sent as two events.", _several, _halved),
    Operator("F15-shortened-payload", "A payload lost its last brace.", _several, _shortened),
    Operator(
        "F16-mislabelled",
        "The stream is labelled text/plain.",
        _asked_for_stream,
        _mislabelled,
    ),
    Operator("F17-retry", "A reconnection time comes first.", _streams, _retry, must="pass"),
    Operator(
        "F18-event-id", "An event has an id.", _framed, _event_id, (CHAT, MESSAGES), must="pass"
    ),
    Operator("F18-advised-against", "An event has an id.", _framed, _event_id, (RESPONSES,)),
    Operator(
        "F19-blank-lines", "More blank lines follow an event.", _framed, _blank_lines, must="pass"
    ),
)
