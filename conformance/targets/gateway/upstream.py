"""The server behind a gateway, played by the toolkit: it answers what it was told, and keeps calls.

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
from conformance.core.errors import UsageError
from conformance.core.events import Chunk, Ending, Exchange, Request, Response
from conformance.targets.gateway.said import Answered
from conformance.targets.gateway.scripts import Scripts, Speaker, api_of, models

MOST_BYTES: Final = 8 * 1024 * 1024
MOST_HEARD: Final = 1000  # calls of one step
_PIECE: Final = 65_536


@dataclass(frozen=True, slots=True)
class Heard:
    """One call of the gateway, with what it was answered; its exchange has its dialect.

    `misfit` says why that was no answer to it; else it is empty.
    """

    exchange: Exchange
    clock: Clock
    misfit: str = ""


@dataclass(slots=True)
class Upstream:
    """Who speaks next, and what was heard since `begin`."""

    port: int = 0
    request: int = 0  # number of the one that is under way
    _speaker: Speaker = field(default_factory=Scripts)
    _number: int = 0
    _calls: int = 0
    _heard: list[Heard] = field(default_factory=list)

    def begin(self, speaker: Speaker) -> None:
        """A request goes out to the gateway: what was heard before is nobody's."""
        self._speaker, self._calls, self._heard = speaker, 0, []
        self.request += 1

    def taken(self) -> tuple[Heard, ...]:
        """The calls since `begin`, in the order in which they were answered."""
        return tuple(self._heard)

    def answer(self, method: str, path: str, asked: Any) -> Answered | None:
        """What is said to a request; None where nothing is known of its path."""
        if method == "GET" and path.rstrip("/").endswith("/models"):
            return models()
        dialect = api_of(path)
        if method != "POST" or dialect is None:
            return None
        self._number, call = self._number + 1, self._calls
        self._calls += 1
        fields = asked if isinstance(asked, dict) else {}
        return self._speaker.answer(dialect, call, self._number, fields)

    def keep(self, heard: Heard, request: int) -> None:
        """Keeps a call that was made for that request, unless another one is under way now."""
        if request == self.request and len(self._heard) < MOST_HEARD:
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
        method = request.method.decode("ascii")
        path, _, _ = request.target.decode("latin-1").partition("?")
        asked = _asked(request, method, body)
        number = self._upstream.request
        said = self._upstream.answer(method, path, asked.json)
        if said is None:
            said = Answered(404, "application/json", (b'{"error": {"message": "no such path"}}',))
        headers = [("content-type", said.kind), ("transfer-encoding", "chunked")]
        await self._send(h11.Response(status_code=said.status, headers=headers))
        chunks: list[Chunk] = []
        end = await self._say(said, chunks)
        if api_of(path) and method == "POST":
            exchange = Exchange(
                request=asked,
                response=Response(said.status, "1.1", tuple(headers)),
                chunks=tuple(chunks),
                end=end,
                dialect=api_of(path),
            )
            heard = Heard(exchange, Clock(head=0.0, end=0.0), said.misfit)
            self._upstream.keep(heard, number)
        return not said.breaks

    async def _say(self, said: Answered, chunks: list[Chunk]) -> Ending:
        """Sends a body; `chunks` are what went out of it. How it ended."""
        begun = monotonic()
        try:
            for piece in said.pieces:
                await self._send(h11.Data(data=piece))
                chunks.append(Chunk(piece, round((monotonic() - begun) * 1000, 3)))
                begun = monotonic()
            if not said.breaks:
                await self._send(h11.EndOfMessage())
                return "eof"
            await self._break()
        except OSError:
            return "client-closed"
        return "reset"

    async def _send(self, event: h11.Event) -> None:
        self._writer.write(self._http.send(event) or b"")
        await self._writer.drain()

    async def _break(self) -> None:
        """A reset, once the gateway had time to read what came before."""
        await asyncio.sleep(0.05)
        raw = self._writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


def _asked(request: h11.Request, method: str, body: bytes) -> Request:
    headers = tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in request.headers)
    try:
        payload = json.loads(body) if body else None
    except (ValueError, RecursionError):
        payload = None
    return Request(method, request.target.decode("latin-1"), headers, payload)
