"""HTTP messages to edit, and how each kind is read: requests, responses, encoded bodies."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from pathlib import Path
from random import Random
from typing import Any, Final

from conformance.core.content_coding import ContentDecoder, UndecodableError
from conformance.wire.client import ClientConnection
from conformance.wire.dialing import OpenedConnection
from conformance.wire.faults import BrokenExchange
from conformance.wire.passing_reader import PassingReader
from conformance.wire.requests import RequestReader

_MOST: Final = 100_000
_EVENTS: Final = b'data: {"choices":[]}\n\ndata: [DONE]\n\n'
_CHUNKS: Final = b"5\r\ndata:\r\na;x=y\r\n {}\n\n: ok\n\r\n0\r\nx: y\r\n\r\n"
MESSAGES: Final[tuple[tuple[str, bytes], ...]] = (
    ("request", b"POST /v1/messages HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\n{}GET / H"),
    ("request", b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + _CHUNKS),
    ("request", b"GET /v1/models HTTP/1.0\r\nexpect: 100-continue\r\n\r\n"),
    ("response", b"HTTP/1.1 200 OK\r\ncontent-length: 36\r\n\r\n" + _EVENTS),
    ("response", b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + _CHUNKS),
    ("response", b"HTTP/1.1 103 E\r\nlink: x\r\n\r\nHTTP/1.0 500 No\r\n\r\n" + _EVENTS),
    ("gzip", gzip.compress(_EVENTS * 9, mtime=0) + gzip.compress(b"more", mtime=0)),
    ("deflate", zlib.compress(_EVENTS * 9)),
)


class _NoWriter:
    """Stands for the side of a connection that is not read."""

    transport: Any = None

    def write(self, data: bytes) -> None:
        """Nobody hears it."""

    async def drain(self) -> None:
        """Nobody waits."""

    def is_closing(self) -> bool:
        return False

    def get_extra_info(self, _: str) -> None:
        """There is no TLS."""


def read_message(kind: str, data: bytes, source: Random, _: Path) -> None:
    """Reads one message in random pieces. Raises RequestRejected, and what nobody documents."""
    pieces = _cut(data, source)
    if kind == "request":
        reader = RequestReader(_MOST, _MOST)
        for piece in pieces:
            if reader.feed(piece) is not None:
                break
        assert reader.size <= len(data) + _MOST
    elif kind == "response":
        asyncio.run(_read_response(pieces, source.choice(("GET", "POST", "HEAD"))))
    else:
        _decode(kind, pieces)


def _cut(data: bytes, source: Random) -> list[bytes]:
    size = source.choice((1, 3, 17, 1000))
    return [data[start : start + size] for start in range(0, len(data), size)]


async def _read_response(pieces: list[bytes], method: str) -> None:
    stream = PassingReader()
    for piece in pieces:
        stream.feed_data(piece)
    stream.feed_eof()
    writer: Any = _NoWriter()
    connection = ClientConnection(OpenedConnection(stream, writer))
    try:
        await connection.send_request(method, "/", (("host", "h"),), b"")
        head = await connection.read_head(method, idle=None)
        size = 0
        async for parts in connection.read_body(head, idle=None):
            size += sum(len(part.data) for part in parts)
        assert size <= sum(map(len, pieces))
    except BrokenExchange:
        pass


def _decode(coding: str, pieces: list[bytes]) -> None:
    decoder, size = ContentDecoder(coding, _MOST), 0
    try:
        for piece in pieces:
            size += len(decoder.feed(piece))
    except UndecodableError:
        pass
    assert size <= _MOST
