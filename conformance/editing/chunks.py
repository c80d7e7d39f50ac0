"""Streams of chunks: which of them open, finish or count, and chunks written like another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.editing.layout import ChunkLayout
from conformance.editing.operator import Edit, Sites
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream


def chunk_layout(stream: Stream) -> ChunkLayout:
    """The layout of a stream that is known to have chunks."""
    assert stream.layout.chunk is not None
    return stream.layout.chunk


def chunk_places(stream: Stream) -> list[int]:
    """Places of chunks; none where the dialect has no chunks."""
    layout = stream.layout.chunk
    if layout is None or stream.is_body:
        return []
    found = [n for n, _ in stream.events()]
    return [n for n in found if isinstance(stream.value_at(n, *layout.holder), list | dict)]


def chunks_with(*path: str | int) -> Sites:
    """Chunks with something other than null at a path."""
    return lambda stream: [n for n in chunk_places(stream) if stream.value_at(n, *path) is not None]


def message_places(stream: Stream) -> list[int]:
    return [n for n in chunk_places(stream) if isinstance(message_at(stream, n), dict)]


def finish_places(stream: Stream) -> list[int]:
    return [n for n in chunk_places(stream) if stream.value_at(n, *chunk_layout(stream).finish)]


def usage_places(stream: Stream) -> list[int]:
    """Places of chunks that count tokens."""
    found = [(n, stream.value_at(n, *chunk_layout(stream).usage)) for n in chunk_places(stream)]
    return [n for n, counts in found if isinstance(counts, dict | int)]


def plain_places(stream: Stream) -> list[int]:
    """Places of chunks with a piece of the message that neither finish nor count."""
    ends = {*finish_places(stream), *usage_places(stream)}
    return [n for n in message_places(stream) if n not in ends]


def message_at(stream: Stream, place: int, *path: str | int) -> Any:
    """What is at a path below the message of a chunk."""
    return stream.value_at(place, *chunk_layout(stream).message, *path)


def repeats_role(stream: Stream) -> bool:
    """Whether more than one chunk of a message carries the role."""
    found = [n for n in message_places(stream) if message_at(stream, n, "role")]
    choices = [stream.value_at(n, *chunk_layout(stream).message[:-1], "index") for n in found]
    return len(set(choices)) < len(choices)


def opening_places(stream: Stream) -> set[int]:
    """Places of chunks with what comes once."""
    repeated = {("role",)} if repeats_role(stream) else set()
    once = [path for path in chunk_layout(stream).once if path not in repeated]
    found = message_places(stream)
    return {n for n in found if any(message_at(stream, n, *path) for path in once)}


def write_chunk(stream: Stream, place: int, message: Mapping[str, Any]) -> Piece:
    """A chunk as the one at `place` is written, with this piece of the message and nothing else."""
    sample = stream.pieces[place]
    role = message_at(stream, place, "role")
    kept = {"role": role} if role and repeats_role(stream) else {}
    unfinished = chunk_layout(stream).unfinished
    return sample.with_payload(unfinished(sample.payload, {**kept, **message}))


def add_chunk(message: Mapping[str, Any]) -> Edit:
    """A chunk with another piece of the message follows."""
    return lambda stream, site: stream.insert(site + 1, write_chunk(stream, site, message))
