"""Streams at the edge of the standard, made of a recorded one.

Each is what the WHATWG algorithm reads without doubt and what readers in the wild get wrong.
Rule 1: the payloads stay what they are, so a client is never asked to make sense of other ones.
Rule 2: what a reader must not see says so: it holds `POISON`, in the form of a delta.
https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation; the
cases are those of web-platform-tests (eventsource/) and of LaunchDarkly's sse-contract-tests as far
as they can be put around payloads, and some that neither has: tests/vectors/sse names each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Final

from conformance.core.events import Exchange, Response
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream
from conformance.targets.client import edge_blocks, edge_lines, edge_texts

BYTEWISE: Final = "bytes:1"
_BOM: Final = b"\xef\xbb\xbf"
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Edge:
    """A stream under a name; `chunking` as replay options spell it."""

    name: str
    exchange: Exchange
    chunking: str = "recorded"


def edges(stream: Stream) -> Iterator[Edge]:
    """Every edge that this stream can be brought to."""
    if stream.is_body or not _events(stream):
        return
    for name, made in edge_texts.respelled(stream):
        chunking = BYTEWISE if name in edge_texts.BYTEWISE else "recorded"
        yield Edge(name, made.result(), chunking)
    poison = json.dumps(edge_texts.poisoned(stream), ensure_ascii=False).encode()
    place = _events(stream)[:2][-1]
    for name, block in edge_blocks.blocks(poison):
        yield Edge(name, stream.insert(place, Piece(block)).result())
    for name, made in edge_lines.relined(stream):
        yield Edge(name, made.result())
    yield from _beginnings(stream, poison)
    yield from _cut_otherwise(stream)
    if stream.exchange.end == "eof":
        yield from _endings(stream, poison)
    yield Edge("A-charset", _of_another_charset(stream))


def _events(stream: Stream) -> list[int]:
    return [place for place, piece in enumerate(stream.pieces) if piece.kind == "event"]


def _beginnings(stream: Stream, poison: bytes) -> Iterator[Edge]:
    for name, start in (
        ("A-comment-first", b": hello\n"),
        ("A-bom-and-comment", _BOM + b": hello\n"),
        ("A-bom-double", _BOM + _BOM + b"data: " + poison + b"\n\n"),
    ):
        yield Edge(name, stream.insert(0, Piece(start)).result())


def _cut_otherwise(stream: Stream) -> Iterator[Edge]:
    """Line ends and byte order marks, torn apart where they have several bytes."""
    yield Edge("A-bom-bytewise", stream.insert(0, Piece(_BOM)).result(), BYTEWISE)
    yield Edge("A-crlf-bytewise", _ending_lines(stream, b"\r\n").result(), BYTEWISE)
    yield Edge("A-cr-bytewise", _ending_lines(stream, b"\r").result(), BYTEWISE)
    yield Edge("A-mixed-line-ends", _ending_lines(stream, b"\n", b"\r\n", b"\r").result())
    yield Edge("A-one-chunk", stream.exchange, f"bytes:{max(1, len(stream.body))}")


def _ending_lines(stream: Stream, *ends: bytes) -> Stream:
    """The stream with other line ends, those of its events in turn."""
    pieces = [
        replace(piece, raw=_LINE_END.sub(end, piece.raw))
        for piece, end in zip(stream.pieces, cycle(ends), strict=False)
    ]
    return stream.with_pieces(pieces)


def _endings(stream: Stream, poison: bytes) -> Iterator[Edge]:
    for name, end in (
        ("A-comment-last", b": bye"),
        ("A-id-last", b"id: 7\n\n"),
        ("A-block-without-end", b"id: 9\ndata: " + poison + b"\n"),
        ("A-character-without-end", b"data: \xe2\x80"),
    ):
        yield Edge(name, stream.insert(len(stream.pieces), Piece(end)).result())
    yield Edge("A-unfinished-event", _unfinished(stream))


def _unfinished(stream: Stream) -> Exchange:
    """The last event lost its blank line: by the standard it was never sent."""
    last = _events(stream)[-1]
    kept = stream.pieces[: last + 1]
    raw = kept[-1].raw.rstrip(b"\r\n") + b"\n"
    return stream.with_pieces([*kept[:-1], replace(kept[-1], raw=raw)]).result()


def _of_another_charset(stream: Stream) -> Exchange:
    """Event streams are UTF-8, whatever the head says."""
    made = edge_texts.changed(stream, lambda text: text.replace(" ", "\u00e9")).result()
    response = made.response or Response()
    kept = [pair for pair in response.headers if pair[0].lower() != "content-type"]
    headers = (*kept, ("content-type", "text/event-stream;charset=windows-1252"))
    return replace(made, response=replace(response, headers=headers))
