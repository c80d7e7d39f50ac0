"""Servers that misbehave, each in one way, on a socket of 127.0.0.1."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Final

_MEGABYTE: Final = b":" * 1_000_000
_GZIP_HEAD: Final = b"\x1f\x8b\x08" + bytes(6) + b"\xff"  # deflated, without a name or a time

Writer = asyncio.StreamWriter
Behaviour = Callable[[Writer], Awaitable[None]]

CHUNK: Final = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":'
    b'[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}\n\n'
)
LAST: Final = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":'
    b'[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


@dataclass(slots=True)
class Heard:
    """The address of a server, and the requests that came to it, as bytes."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def serving(behave: Behaviour, tls: ssl.SSLContext | None = None) -> AsyncIterator[Heard]:
    """Serves until the block is left; connections that are still open are cut then."""
    heard = Heard()
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: Writer) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            heard.requests.append(await _request(reader))
            await behave(writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client left, or the test is over
        finally:
            tasks.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    heard.port = server.sockets[0].getsockname()[1]
    try:
        yield heard
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return head + await reader.readexactly(int(line.split(b":")[1]))
    return head


def head(status: str = "200 OK", *, kind: str = "text/event-stream", **more: str) -> bytes:
    """A response head without a length: the body ends when the connection does."""
    fields = {"content-type": kind, "connection": "close"}
    fields |= {name.replace("_", "-"): value for name, value in more.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode()


def whole(data: bytes) -> Behaviour:
    """Sends these bytes and closes."""

    async def behave(writer: Writer) -> None:
        writer.write(data)
        await writer.drain()

    return behave


@dataclass(frozen=True, eq=False)
class built:  # noqa: N801  # reads as the functions beside it
    """A behaviour of many megabytes, or seconds: made by `prepare`, or when a client comes."""

    make: Callable[[], Behaviour]

    async def __call__(self, writer: Writer) -> None:
        await self.prepare()(writer)

    @cache  # noqa: B019  # a few of them, each for as long as the tests
    def prepare(self) -> Behaviour:
        """Makes it, so that no client waits for that."""
        return self.make()


def endlessly(piece: bytes, first: bytes = b"") -> Behaviour:
    """Sends the same piece for ever."""

    async def behave(writer: Writer) -> None:
        writer.write(head() + first)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)

    return behave


def dripping(data: bytes, first: bytes = b"") -> Behaviour:
    """Sends a byte now and then, often enough never to be silent for long."""

    async def behave(writer: Writer) -> None:
        writer.write(first)
        for at in range(len(data)):
            writer.write(data[at : at + 1])
            await writer.drain()
            await asyncio.sleep(0.02)

    return behave


def then_silent(data: bytes) -> Behaviour:
    """Sends this, and nothing more."""

    async def behave(writer: Writer) -> None:
        writer.write(data)
        await writer.drain()
        await asyncio.Event().wait()

    return behave


def then_reset(data: bytes) -> Behaviour:
    """Sends this, then resets the connection."""

    async def behave(writer: Writer) -> None:
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(0.05)  # the client reads before the reset overtakes the data
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return behave


def bomb(size: int) -> bytes:
    """A body that grows a thousandfold when it is unpacked: whole megabytes of the same."""
    count, rest = divmod(size, len(_MEGABYTE))
    assert not rest, "only the first megabyte is packed: the others are its copies"
    packer = zlib.compressobj(wbits=-15)
    first = packer.compress(_MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(count):
        checksum = zlib.crc32(_MEGABYTE, checksum)
    trailer = struct.pack("<II", checksum, size)
    return head(content_encoding="gzip") + _GZIP_HEAD + first * count + packer.flush() + trailer


def chunked(*pieces: bytes, ended: bool = True) -> bytes:
    """A chunked body; without its last chunk unless it ended."""
    body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return head(transfer_encoding="chunked") + body + (b"0\r\n\r\n" if ended else b"")
