"""The proxy's client: requests in, answers out, and whether anybody is still there."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import h11

from conformance.targets.recording.framing import Piece
from conformance.targets.recording.heads import (
    Headers,
    decoded,
    end_to_end,
    has_token,
    response_bytes,
    without,
)
from conformance.targets.recording.upstream import READ, Head

_LONGEST_HEAD: Final = 256 * 1024
LONGEST_BODY: Final = 64 * 1024 * 1024
_PATIENCE: Final = 60.0  # seconds that a request may fall silent in its midst
_IDLE: Final = 600.0  # seconds between two requests
_RESET: Final = struct.pack("ii", 1, 0)  # linger on, for no time: closing sends RST


class RefusedError(Exception):
    """A request that is answered by the proxy itself."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class GoneError(Exception):
    """The client closed the connection."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A whole request."""

    method: str
    target: str
    headers: Headers
    body: bytes
    keeps: bool
    speaks_11: bool


class ClientSide:
    """One connection of a client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._rest = b""
        self._watch: asyncio.Task[None] | None = None
        self._chunked = False
        self.gone = False

    async def next_request(self) -> Asked | None:
        """The next request; None when there is none. Raises RefusedError, GoneError."""
        parser = h11.Connection(h11.SERVER, max_incomplete_event_size=_LONGEST_HEAD)
        data, self._rest = self._rest, b""
        head: h11.Request | None = None
        body = bytearray()
        while True:
            try:
                if data:
                    parser.receive_data(data)
                event = parser.next_event()
                while event is not h11.NEED_DATA:
                    if isinstance(event, h11.Request):
                        head = event
                        self._acknowledge(head)
                    elif isinstance(event, h11.Data):
                        body += event.data
                        _check_size(body)
                    elif isinstance(event, h11.EndOfMessage) and head:
                        self._rest = parser.trailing_data[0]
                        return _asked(head, bytes(body))
                    event = parser.next_event()
            except h11.RemoteProtocolError as err:
                raise RefusedError(err.error_status_hint, str(err)) from err
            started = head is not None or bool(parser.trailing_data[0])
            data = await self._read(_PATIENCE if started else _IDLE)
            if not data:
                if started:
                    raise GoneError
                return None

    def watch(self, on_gone: Callable[[], None]) -> None:
        """Tells when the client goes away; what it sends meanwhile is its next request."""
        self._watch = asyncio.create_task(self._watching(on_gone))

    async def unwatch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait([self._watch])
            self._watch = None

    def answer(self, head: Head, *, speaks_11: bool, keeps: bool) -> bool:
        """Sends a head. Returns whether the connection can serve another request after it."""
        headers = end_to_end(head.response.headers)
        self._chunked = head.chunked and speaks_11
        if self._chunked:
            headers = (*without(headers, "content-length"), ("transfer-encoding", "chunked"))
        stays = keeps and (self._chunked or head.length is not None)
        if not stays:
            headers = (*headers, ("connection", "close"))
        self._writer.write(response_bytes(head.response.status or 502, head.reason, headers))
        return stays

    async def send(self, pieces: list[Piece]) -> None:
        """Passes on what came, cut as it came. Raises GoneError."""
        if self._chunked:
            out = []
            for piece in pieces:
                if piece.size is not None:
                    out.append(b"%x\r\n" % piece.size)
                out.append(piece.data)
                if piece.whole:
                    out.append(b"\r\n")
            self._writer.write(b"".join(out))
        else:
            self._writer.write(b"".join(piece.data for piece in pieces))
        await self._drain()

    async def finish(self) -> None:
        """The body is whole. Raises GoneError."""
        if self._chunked:
            self._writer.write(b"0\r\n\r\n")
        await self._drain()

    async def refuse(self, status: int, why: str, kind: str = "invalid_request_error") -> None:
        """An answer of the proxy's own; it is the last one on this connection."""
        body = json.dumps({"error": {"message": f"conformance record: {why}", "type": kind}})
        headers = (
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("connection", "close"),
        )
        self._writer.write(response_bytes(status, "Refused", headers) + body.encode())
        await self._drain()

    async def reset(self) -> None:
        """Ends the connection as a crash does; what was sent before arrives first."""
        self._writer.transport.set_write_buffer_limits(high=0)
        try:
            await self._drain()
        except GoneError:
            return
        sock: socket.socket | None = self._writer.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._writer.transport.abort()

    async def close(self) -> None:
        await self.unwatch()
        self._writer.close()

    def _acknowledge(self, head: h11.Request) -> None:
        if has_token(decoded(head.headers.raw_items()), "expect", "100-continue"):
            self._writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    async def _watching(self, on_gone: Callable[[], None]) -> None:
        try:
            data = await self._reader.read(READ)
        except OSError:
            data = b""
        self._rest += data
        if not data:
            self.gone = True
            on_gone()

    async def _read(self, patience: float) -> bytes:
        try:
            async with asyncio.timeout(patience):
                return await self._reader.read(READ)
        except (OSError, TimeoutError):
            return b""

    async def _drain(self) -> None:
        try:
            await self._writer.drain()
        except OSError as err:
            self.gone = True
            raise GoneError from err


def _check_size(body: bytearray) -> None:
    if len(body) > LONGEST_BODY:
        raise RefusedError(413, f"a request body of more than {LONGEST_BODY} bytes")


def _asked(head: h11.Request, body: bytes) -> Asked:
    headers = decoded(head.headers.raw_items())
    speaks_11 = head.http_version >= b"1.1"
    return Asked(
        method=head.method.decode("ascii"),
        target=head.target.decode("ascii"),
        headers=headers,
        body=body,
        keeps=speaks_11 and not has_token(headers, "connection", "close"),
        speaks_11=speaks_11,
    )
