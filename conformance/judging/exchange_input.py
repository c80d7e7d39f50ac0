"""What a caller hands over of an exchange: plain values, made to those of `core.events`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final

from conformance.core.content_coding import LONGEST_SIGN, coding_of
from conformance.core.errors import UsageError
from conformance.core.events import ENDINGS, Chunk, Ending, Exchange, Request, Response

GivenChunk = bytes | tuple[float | None, bytes] | Chunk
GivenHeaders = Mapping[str, str] | Iterable[tuple[str | bytes, str | bytes]]

_MOST_FIRST: Final = 64  # chunks that may be empty, before any byte came
_HEAD_KEYS: Final = ("status", "headers")


def given_exchange(request: Any, response: Response | Mapping[str, Any] | None) -> Exchange:
    """The exchange to judge. Raises UsageError for a response of another shape.

    `request` is a `Request` or its decoded JSON, `response` a `Response` or a mapping with
    `status` and `headers`; either is None if unknown.
    """
    return Exchange(request=_given_request(request), response=_given_response(response))


def with_clock(exchange: Exchange, first_ms: float | None) -> Exchange:
    """The exchange as it appears once its first chunk has come: with a clock, or without one.

    Rules that need a clock look for a chunk with a time; its bytes are not needed for that.
    """
    if first_ms is None:
        return exchange
    known = (Chunk(b"", first_ms),)
    return Exchange(request=exchange.request, response=exchange.response, chunks=known)


def given_chunks(chunks: Iterable[GivenChunk]) -> tuple[list[Chunk], Iterator[Chunk]]:
    """The chunks that hold the first bytes, which show the compression, and all chunks."""
    made = map(_given_chunk, chunks)
    first: list[Chunk] = []
    size = 0
    for chunk in islice(made, _MOST_FIRST):
        first.append(chunk)
        size += len(chunk.data)
        if size >= LONGEST_SIGN:
            break
    return first, chain(first, made)


def compression_left(first: bytes) -> str:
    """Why a body that begins so is not judged; empty where it is."""
    coding = coding_of(first)
    return f"the body is compressed ({coding}): give it decoded" if coding else ""


def checked_ending(end: str) -> Ending:
    """One of the words for how a stream ended. Raises UsageError for another."""
    found = next((known for known in ENDINGS if known == end), None)
    if found is None:
        raise UsageError(f"no ending {end!r}", hint=f"there are: {', '.join(ENDINGS)}")
    return found


def _given_chunk(chunk: GivenChunk) -> Chunk:
    if isinstance(chunk, Chunk):
        return chunk
    if isinstance(chunk, tuple):
        ms, data = chunk
        return Chunk(data, ms)
    return Chunk(chunk)


def _given_request(given: Any) -> Request | None:
    if given is None or isinstance(given, Request):
        return given
    return Request(json=dict(given) if isinstance(given, Mapping) else given)


def _given_response(given: Response | Mapping[str, Any] | None) -> Response | None:
    if given is None or isinstance(given, Response):
        return given
    unknown = [key for key in given if key not in _HEAD_KEYS]
    if unknown:
        raise UsageError(f"a response has no {unknown[0]!r}", hint=f"it has: {_HEAD_KEYS}")
    return Response(given.get("status"), headers=_header_pairs(given.get("headers") or ()))


def _header_pairs(headers: GivenHeaders) -> tuple[tuple[str, str], ...]:
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return tuple((_header_text(name), _header_text(value)) for name, value in pairs)


def _header_text(part: str | bytes) -> str:
    return part if isinstance(part, str) else part.decode("latin-1")
