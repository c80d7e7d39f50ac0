"""HTTP/1.1 messages as programs print them: heads, and bodies without their codings.

A body is decoded only as far as its head says that it was coded and its bytes say so, too: many
programs print the head as it came over a body that they decoded already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from msgspec.structs import replace

from conformance.cassette.importers import MAX_IMPORT, ForeignFile
from conformance.core.chunked import ChunkedBodyReader
from conformance.core.content_coding import ContentDecoder, UndecodableError
from conformance.core.events import Chunk, Request, Response
from conformance.core.json_values import NOT_JSON, decode_json

Headers = tuple[tuple[str, str], ...]

STATUS_LINE: Final = re.compile(rb"HTTP/(\d(?:\.\d)?) (\d{3})(?: [^\r\n]*)?\r?$")
_LONGEST_HEAD: Final = 1 << 20
_MOST_HEADERS: Final = 1024
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_CODED: Final = ("content-encoding", "content-length", "transfer-encoding")


class PrintedHead(NamedTuple):
    """A response head, and how many bytes it takes, with the blank line."""

    response: Response
    size: int


def read_head(data: bytes, at: int = 0) -> PrintedHead | None:
    """The response head that begins at a byte; None where none does."""
    end = re.compile(rb"\r?\n\r?\n").search(data, at, at + _LONGEST_HEAD)
    lines = data[at : end.start() if end else at + _LONGEST_HEAD].split(b"\n")
    status = STATUS_LINE.match(lines[0])
    if status is None or len(lines) > _MOST_HEADERS:
        return None
    headers = header_pairs(lines[1:])
    response = Response(int(status[2]), status[1].decode(), headers)
    return PrintedHead(response, (end.end() if end else len(data)) - at)


def header_pairs(lines: Iterable[bytes]) -> Headers:
    """Names and values of header lines; other lines are left out."""
    split = (line.decode("latin-1").strip("\r\n").partition(":") for line in lines)
    return tuple((name, value.strip()) for name, colon, value in split if colon and name.strip())


def request_of(method: str, url: str, headers: Headers, body: bytes | None) -> Request:
    """A request by its URL or path; a body that is not JSON is kept.

    Raises ValueError for an invalid URL.
    """
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    request = Request(method or "POST", path, headers, server=server_of(parts))
    if not body:
        return request
    value: Any = decode_json(body.decode("utf-8", "replace"))
    return request.with_raw(body) if value is NOT_JSON else replace(request, json=value)


def server_of(url: SplitResult) -> str:
    """Scheme and host of a URL, without what logs in; empty where it is a path."""
    host = url.netloc.rpartition("@")[2]
    return f"{url.scheme}://{host}" if url.scheme and host else ""


class DecodedBody(NamedTuple):
    """The head and the chunks without codings, and whether the body came to its end.

    There are as many chunks as before, some of them maybe empty. `is_whole` is None where nothing
    shows.
    """

    response: Response
    chunks: tuple[Chunk, ...]
    is_whole: bool | None


def decode_body(file: ForeignFile, response: Response, chunks: tuple[Chunk, ...]) -> DecodedBody:
    """Takes transfer chunks and content codings off. Raises CassetteError for a broken coding."""
    length = response.header("content-length") or ""
    size = sum(len(chunk.data) for chunk in chunks)
    is_whole = size >= int(length) if length.isascii() and length.isdigit() else None
    found = chunks
    if "chunked" in (response.header("transfer-encoding") or "").lower():
        joined = without_transfer_chunks(chunks)
        if joined is not None:
            found, is_whole = joined
    coding = (response.header("content-encoding") or "").strip().lower()
    if coding not in ("", "identity") and is_packed(coding, found):
        found = _unpack_chunks(file, coding, found)
    plain = tuple(pair for pair in response.headers if pair[0].lower() not in _CODED)
    same = found is chunks and not coding
    headers = response.headers if same else plain
    return DecodedBody(Response(response.status, response.http, headers), found, is_whole)


def without_transfer_chunks(
    chunks: tuple[Chunk, ...],
) -> tuple[tuple[Chunk, ...], bool] | None:
    """The chunks inside, and whether they came to their end.

    None if the bytes are not transfer chunks: the program that printed them took those off.
    """
    reader = ChunkedBodyReader()
    found: list[Chunk] = []
    for chunk in chunks:
        data = b"".join(each.data for each in reader.feed(chunk.data))
        found.append(Chunk(data, chunk.ms))
        if reader.fault:
            return None
    # One line of JSON without its end could continue as the line of a size.
    return (tuple(found), reader.done) if reader.begun else None


def drop_empty(chunks: Sequence[Chunk], lines: Sequence[int]) -> tuple[list[Chunk], list[int]]:
    """The chunks that hold something, and their lines; the time of the others goes to the next."""
    kept: list[Chunk] = []
    at: list[int] = []
    waited: float | None = 0.0
    for chunk, line in zip(chunks, lines, strict=True):
        waited = None if chunk.ms is None or waited is None else round(waited + chunk.ms, 3)
        if chunk.data:
            kept.append(Chunk(chunk.data, waited))
            at.append(line)
            waited = 0.0
    return kept, at


def is_packed(coding: str, chunks: tuple[Chunk, ...]) -> bool:
    """Whether the first bytes are of a content coding: many keep the head over a decoded body."""
    first = b"".join(chunk.data for chunk in chunks[:8])[:4]
    magic = {"gzip": _GZIP, "x-gzip": _GZIP, "zstd": _ZSTD}.get(coding)
    if magic is not None:
        return first.startswith(magic)
    return first.lstrip()[:1] not in (b"d", b"e", b":", b"{", b"[", b"")  # else it is readable


def _unpack_chunks(file: ForeignFile, coding: str, chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
    decoder = ContentDecoder(coding, MAX_IMPORT)
    try:
        found = tuple(Chunk(decoder.feed(chunk.data), chunk.ms) for chunk in chunks)
    except UndecodableError as err:
        raise file.error(str(err)) from err
    if decoder.is_full:
        raise file.error(f"the body inflates to more than {MAX_IMPORT:,} bytes")
    return found


def skipped_heads(data: bytes) -> Iterator[PrintedHead]:
    """Heads that follow each other at the beginning: of a proxy, 1xx, a redirect, the answer."""
    at = 0
    while (head := read_head(data, at)) is not None:
        yield head
        at += head.size
