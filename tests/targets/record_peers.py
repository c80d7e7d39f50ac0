"""Both ends of a connection: a server that plays a script, a client that notes the cuts."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


@dataclass
class Script:
    """What a server writes, one write after the other, and how it ends.

    `ending` is `keep`, `fin`, `rst` or `silence`. `gate`, if any, is awaited before each write
    but the first.
    """

    writes: Sequence[bytes]
    ending: str = "keep"
    gate: asyncio.Semaphore | None = None


@dataclass
class Origin:
    """A server under script: one script per request, the last one over and over."""

    scripts: list[Script]
    url: str = ""
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self.serve(reader, writer))
        self.tasks.add(task)
        task.add_done_callback(lambda _: writer.close())

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while request := await request_bytes(reader):
                script = self.scripts[min(len(self.requests), len(self.scripts) - 1)]
                self.requests.append(request)
                if not await self._play(script, reader, writer):
                    break
        except ConnectionError:
            self.gone.set()
        finally:
            writer.close()

    async def _play(
        self, script: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        for number, data in enumerate(script.writes):
            if script.gate is not None and number:
                await script.gate.acquire()
            writer.write(data)
            await writer.drain()
        if script.ending == "rst":
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        if script.ending == "silence":
            await reader.read()
            self.gone.set()
        return script.ending == "keep"


@asynccontextmanager
async def origin(*scripts: Script, tls: ssl.SSLContext | None = None) -> AsyncIterator[Origin]:
    served = Origin(list(scripts))
    server = await asyncio.start_server(served.accept, "127.0.0.1", 0, ssl=tls)
    served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield served
    finally:
        server.close()
        for task in served.tasks:
            task.cancel()
        await asyncio.gather(*served.tasks, return_exceptions=True)


async def request_bytes(reader: asyncio.StreamReader) -> bytes:
    """A request with a content-length; empty at the connection's end."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""
    length = re.search(rb"(?i)content-length: (\d+)", head)
    return head + (await reader.readexactly(int(length[1])) if length else b"")


def post(path: str, body: bytes = b'{"model":"m","stream":true}', *headers: str) -> bytes:
    lines = (f"POST {path} HTTP/1.1", "Host: localhost", *headers, f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@dataclass(frozen=True)
class Got:
    """What a client got: the head, transfer chunks (or the rest in one), how it ended."""

    head: bytes
    chunks: tuple[bytes, ...]
    end: str


async def connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = url.removeprefix("http://").split(":")
    return await asyncio.open_connection(host, int(port), limit=1 << 26)


async def ask(url: str, request: bytes) -> Got:
    """One request on a connection of its own."""
    reader, writer = await connect(url)
    try:
        writer.write(request)
        return await answer(reader)
    finally:
        writer.close()


async def answer(reader: asyncio.StreamReader) -> Got:
    """The next answer on a connection."""
    chunks: list[bytes] = []
    head = b""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        if b"transfer-encoding: chunked" in head.lower():
            while size := int(await reader.readuntil(b"\r\n"), 16):
                chunks.append(await reader.readexactly(size))
                await reader.readexactly(2)
            await reader.readexactly(2)
        elif length := re.search(rb"(?i)content-length: (\d+)", head):
            chunks.append(await reader.readexactly(int(length[1])))
        else:
            chunks.append(await reader.read(-1))
    except asyncio.IncompleteReadError as err:
        return Got(head, (*chunks, err.partial) if err.partial else tuple(chunks), "cut")
    except ConnectionError:
        return Got(head, tuple(chunks), "reset")
    return Got(head, tuple(chunks), "complete")
