"""The server behind a gateway, played by the toolkit: it answers what it was told, and keeps calls.

The gateway is the target, so what it asks is hostile until proven otherwise: requests are bounded,
and whatever is no request is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

from conformance.cassette import Clock
from conformance.core.events import Chunk, Ending, Exchange, Request, Response
from conformance.dialects import dialect_at
from conformance.targets.gateway.scripts import Answered, Scripts, Speaker, models
from conformance.wire.chunked import ChunkPart
from conformance.wire.heads import lower_names
from conformance.wire.requests import HttpRequest, RequestRejected, json_or_none
from conformance.wire.server import PeerGoneError, ServerConnection, listening

MOST_BYTES: Final = 8 * 1024 * 1024
MOST_CALLS: Final = 1000  # calls of one step


@dataclass(frozen=True, slots=True)
class UpstreamCall:
    """One call of the gateway, with what it was answered; its exchange has its dialect.

    `misfit` says why that was no answer to it; else it is empty.
    """

    exchange: Exchange
    clock: Clock
    misfit: str = ""


@dataclass(slots=True)
class UpstreamStandIn:
    """Who speaks next, and what was heard since `begin`."""

    port: int = 0
    request: int = 0  # number of the one that is under way
    _speaker: Speaker = field(default_factory=Scripts)
    _number: int = 0
    _calls: int = 0
    _heard: list[UpstreamCall] = field(default_factory=list)

    def begin_request(self, speaker: Speaker) -> None:
        """A request goes out to the gateway: what was heard before is nobody's."""
        self._speaker, self._calls, self._heard = speaker, 0, []
        self.request += 1

    def calls_made(self) -> tuple[UpstreamCall, ...]:
        """The calls since `begin`, in the order in which they were answered."""
        return tuple(self._heard)

    def answer_call(self, method: str, path: str, asked: Any) -> Answered | None:
        """What is said to a request; None where nothing is known of its path."""
        if method == "GET":
            return models(path)
        dialect = dialect_at(path)
        if method != "POST" or dialect is None:
            return None
        self._number, call = self._number + 1, self._calls
        self._calls += 1
        fields = asked if isinstance(asked, dict) else {}
        return self._speaker.answer(dialect, call, self._number, fields)

    def keep_call(self, heard: UpstreamCall, request: int) -> None:
        """Keeps a call that was made for that request, unless another one is under way now."""
        if request == self.request and len(self._heard) < MOST_CALLS:
            self._heard.append(heard)


@asynccontextmanager
async def serve_upstream(port: int, host: str = "127.0.0.1") -> AsyncIterator[UpstreamStandIn]:
    """Serves until the block is left. Raises UsageError where the port is taken."""
    upstream = UpstreamStandIn()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ServerConnection(reader, writer, most_body=MOST_BYTES)
        try:
            await _serve(upstream, connection)
        except (RequestRejected, PeerGoneError):
            pass  # what is no request is closed
        finally:
            await connection.close()

    async with listening(host, port, accept) as upstream.port:
        yield upstream


async def _serve(upstream: UpstreamStandIn, connection: ServerConnection) -> None:
    """Requests come one after another."""
    stays = True
    while stays and (request := await connection.next_request()) is not None:
        stays = await _respond(upstream, connection, request)


async def _respond(
    upstream: UpstreamStandIn, connection: ServerConnection, request: HttpRequest
) -> bool:
    """Answers; whether the connection goes on."""
    path = request.target.partition("?")[0]
    payload = json_or_none(request.body)
    number = upstream.request
    answered = upstream.answer_call(request.method, path, payload)
    if answered is None:
        answered = Answered(404, "application/json", (b'{"error": {"message": "no such path"}}',))
    headers = (("content-type", answered.kind), ("transfer-encoding", "chunked"))
    stays = connection.start_response(request, answered.status, headers)
    chunks: list[Chunk] = []
    end = await _send_body(connection, answered, chunks)
    if dialect_at(path) and request.method == "POST":
        exchange = Exchange(
            request=Request(request.method, request.target, lower_names(request.headers), payload),
            response=Response(answered.status, "1.1", headers),
            chunks=tuple(chunks),
            end=end,
            dialect=dialect_at(path),
        )
        upstream.keep_call(
            UpstreamCall(exchange, Clock(head=0.0, end=0.0), answered.misfit), number
        )
    return stays and end == "eof"


async def _send_body(
    connection: ServerConnection, answered: Answered, chunks: list[Chunk]
) -> Ending:
    """Sends a body; `chunks` are what went out of it. How it ended."""
    begun = monotonic()
    try:
        for data in answered.pieces:
            await connection.send_parts((ChunkPart(data, len(data), whole=True),))
            chunks.append(Chunk(data, round((monotonic() - begun) * 1000, 3)))
            begun = monotonic()
        if not answered.breaks:
            await connection.end_response()
            return "eof"
        await connection.reset()
    except PeerGoneError:
        return "client-closed"
    return "reset"
