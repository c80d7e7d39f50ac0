"""Streams at the edge of the standard, made of a recorded one.

Each is what the WHATWG algorithm reads without doubt and what readers in the wild get wrong: a
line separator inside a text, a block without data, a field that nobody knows, an event that the
end left open.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from conformance.dialects.base import NOT_JSON
from conformance.events import Exchange
from conformance.mutate import Piece, Stream

# What str.splitlines() and some readers take for line ends, and the standard does not.
SEPARATORS: Final = {
    "A-u2028": "\u2028",
    "A-u2029": "\u2029",
    "A-u0085": "\u0085",
}
# Fields whose text a client shows; ids and names stay as they are.
_SPOKEN: Final = frozenset(
    {"content", "delta", "reasoning", "reasoning_content", "text", "thinking"}
)


def edges(stream: Stream) -> Iterator[tuple[str, Exchange]]:
    """Name and exchange of every edge that this stream can be brought to."""
    if stream.is_body or not stream.pieces:
        return
    for name, separator in SEPARATORS.items():
        yield from _if_changed(name, stream, _respelled(stream, partial(_separated, separator)))
    yield "A-block-without-data", _inserted(stream, b"event: ping\n\n")
    yield "A-only-an-id", _inserted(stream, b"id: 7\n\n")
    yield "A-unknown-field", _inserted(stream, b"weather: fine\n\n")
    yield "A-comment-like-done", _inserted(stream, b": data: [DONE]\n\n")
    if stream.exchange.end == "eof":
        yield "A-unfinished-event", _unfinished(stream)


def _separated(separator: str, text: str) -> str:
    return text.replace(" ", separator)


def _if_changed(name: str, stream: Stream, made: Stream) -> Iterator[tuple[str, Exchange]]:
    if made.body != stream.body:
        yield name, made.result()


def _respelled(stream: Stream, change: Callable[[str], str]) -> Stream:
    """The stream with other texts, its payloads written without escapes."""
    pieces = [_piece(piece, change) for piece in stream.pieces]
    return stream.with_pieces(pieces)


def _piece(piece: Piece, change: Callable[[str], str]) -> Piece:
    if piece.payload is NOT_JSON or piece.kind != "event":
        return piece
    payload = _changed(piece.payload, change)
    if payload == piece.payload:
        return piece
    data = b"data: " + json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
    lines = [line for line in piece.raw.splitlines() if line and not line.startswith(b"data")]
    return replace(piece, raw=b"\n".join([*lines, data, b"", b""]), payload=payload)


def _changed(value: Any, change: Callable[[str], str], key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _changed(inner, change, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_changed(inner, change, key) for inner in value]
    return change(value) if isinstance(value, str) and key in _SPOKEN else value


def _inserted(stream: Stream, block: bytes) -> Exchange:
    """The stream with a block before its second event."""
    events = [place for place, piece in enumerate(stream.pieces) if piece.kind == "event"]
    place = events[min(1, len(events) - 1)] if events else 0
    return stream.inserted(place, Piece(block)).result()


def _unfinished(stream: Stream) -> Exchange:
    """The last event lost its blank line: by the standard it was never sent."""
    events = [place for place, piece in enumerate(stream.pieces) if piece.kind == "event"]
    if not events:
        return stream.exchange
    last = events[-1]
    kept = stream.pieces[: last + 1]
    raw = kept[-1].raw.rstrip(b"\r\n") + b"\n"
    return stream.with_pieces([*kept[:-1], replace(kept[-1], raw=raw)]).result()
