"""The server behind a gateway, played by the toolkit: it answers by a script, and keeps calls.

The gateway is the target, so what it asks is hostile until proven otherwise: requests are bounded,
and whatever is no request is closed.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

import h11

from conformance.cassette import Clock
from conformance.errors import UsageError
from conformance.events import Chunk, Ending, Exchange, Request, Response
from conformance.targets.gateway_answers import Scripted, models, scripted

MOST_BYTES: Final = 8 * 1024 * 1024
MOST_HEARD: Final = 1000  # calls of one step
_PIECE: Final = 65_536


@dataclass(frozen=True, slots=True)
class Heard:
    """One call of the gateway, with what it was answered."""

    exchange: Exchange
    clock: Clock


@dataclass(slots=True)
class Upstream:
    """What is said next (`script`), and what was heard since the last `taken`."""

    script: str = "answer"
    port: int = 0
    _number: int = 0
    _heard: list[Heard] = field(default_factory=list)

    def taken(self) -> list[Heard]:
        """The calls since the last time, in the order in which they came."""
        heard, self._heard = self._heard, []
        return heard

    def answer(self, method: str, path: str, body: Any) -> Scripted | None:
        """What is said to a request; None where nothing is known of its path."""
        if method == "GET" and path.rstrip("/").endswith("/models"):
            return models()
        if not path.endswith("/chat/completions"):
            return None
        self._number += 1
        return scripted(self.script, self._number, body if isinstance(body, dict) else {})

    def keep(self, heard: Heard) -> None:
        if len(self._heard) < MOST_HEARD:
            self._heard.append(heard)


@asynccontextmanager
async def playing(port: int, host: str = "127.0.0.1") -> AsyncIterator[Upstream]:
    """Serves until the block is left. Raises UsageError where the port is taken."""
    upstream = Upstream()
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await _Connection(upstream, reader, writer).go()
        except (OSError, h11.RemoteProtocolError, asyncio.CancelledError):
            pass  # the gateway left, spoke no HTTP, or the run is over
        finally:
            tasks.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    try:
        server = await asyncio.start_server(connected, host, port)
    except OSError as err:
        raise UsageError(f"cannot listen on {host}:{port}: {err.strerror or err}") from err
    upstream.port = server.sockets[0].getsockname()[1]
    try:
        yield upstream
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Connection:
    """One connection of the gateway; requests come one after another."""

    def __init__(
        self, upstream: Upstream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._upstream = upstream
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER)

    async def go(self) -> None:
        while True:
            asked = await self._request()
            if asked is None or not await self._respond(*asked):
                return
            if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
                return
            self._http.start_next_cycle()

    async def _request(self) -> tuple[h11.Request, bytes] | None:
        request: h11.Request | None = None
        body = bytearray()
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                await self._allow_body()
                self._http.receive_data(await self._reader.read(_PIECE))
            elif isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > MOST_BYTES:
                    return None
            elif isinstance(event, h11.EndOfMessage) and request is not None:
                return request, bytes(body)
            else:
                return None  # the gateway closed

    async def _allow_body(self) -> None:
        if self._http.they_are_waiting_for_100_continue:
            await self._send(h11.InformationalResponse(status_code=100, headers=[]))

    async def _respond(self, request: h11.Request, body: bytes) -> bool:
        """Answers; whether the connection goes on."""
        method, path = request.method.decode("ascii"), request.target.decode("latin-1")
        asked = _asked(request, method, path, body)
        said = self._upstream.answer(method, path.partition("?")[0], asked.json)
        if said is None:
            said = Scripted(404, "application/json", (b'{"error": {"message": "no such path"}}',))
        headers = [("content-type", said.kind), ("transfer-encoding", "chunked")]
        begun = monotonic()
        await self._send(h11.Response(status_code=said.status, headers=headers))
        chunks: list[Chunk] = []
        end: Ending = "reset" if said.breaks else "eof"
        try:
            for piece in said.pieces:
                await self._send(h11.Data(data=piece))
                chunks.append(Chunk(piece, round((monotonic() - begun) * 1000, 3)))
                begun = monotonic()
            if said.breaks:
                await self._break()
            else:
                await self._send(h11.EndOfMessage())
        except OSError:
            end = "client-closed"
        response = Response(said.status, "1.1", tuple(headers))
        exchange = Exchange(request=asked, response=response, chunks=tuple(chunks), end=end)
        if method == "POST":
            self._upstream.keep(Heard(exchange, Clock(head=0.0, end=0.0)))
        return not said.breaks

    async def _send(self, event: h11.Event) -> None:
        self._writer.write(self._http.send(event) or b"")
        await self._writer.drain()

    async def _break(self) -> None:
        """A reset, once the gateway had time to read what came before."""
        await asyncio.sleep(0.05)
        raw = self._writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


def _asked(request: h11.Request, method: str, path: str, body: bytes) -> Request:
    headers = tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in request.headers)
    try:
        payload = json.loads(body) if body else None
    except (ValueError, RecursionError):
        payload = None
    return Request(method, path, headers, payload)
