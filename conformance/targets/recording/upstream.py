"""A connection to the server that is recorded, chunk by chunk.

Rule 1: heads are parsed by h11, bodies by `framing`, which keeps what h11 does not tell: where a
chunk begins. Rule 2: whatever goes wrong is a `Broken` with the ending that it means.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import cache
from time import monotonic
from typing import Final, Self
from urllib.parse import SplitResult, urlsplit

import h11

from conformance.core.errors import UsageError
from conformance.core.events import Ending, Response
from conformance.targets.recording.framing import Chunked, Framing, Piece, Unframed
from conformance.targets.recording.heads import (
    Headers,
    decoded,
    has_token,
    request_bytes,
    value_of,
    without,
)

READ: Final = 64 * 1024
_LONGEST_HEAD: Final = 256 * 1024
_BODILESS: Final = frozenset({204, 304})


class Broken(Exception):  # noqa: N818  # it tells how a stream ended; nobody erred here
    """The exchange ended like this, and not by itself."""

    def __init__(self, end: Ending, why: str) -> None:
        super().__init__(why)
        self.end = end


@dataclass(frozen=True, slots=True)
class Origin:
    """A server by its URL: where it is, and what its paths begin with."""

    host: str
    port: int
    tls: bool
    netloc: str
    path: str
    query: str

    @classmethod
    def parse(cls, url: str) -> Self:
        """Raises UsageError for what is no http or https URL."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as err:
            raise UsageError(f"expected a URL, got {_shown(url)!r}: {err}") from err
        _check(parts, url)
        tls = parts.scheme == "https"
        assert parts.hostname
        name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        return cls(
            host=parts.hostname,
            port=port or (443 if tls else 80),
            tls=tls,
            netloc=name if port is None else f"{name}:{port}",
            path=parts.path.rstrip("/"),
            query=parts.query,
        )

    def target(self, path: str) -> str:
        """The request target for a path below the URL's own."""
        query = f"?{self.query}" if self.query and "?" not in path else ""
        return f"{self.path}{path}{query}" if self.path or path else f"/{query}"


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a response, and how its body is framed."""

    response: Response
    reason: str
    chunked: bool
    length: int | None

    @property
    def ends_itself(self) -> bool:
        """Whether the body says where it ends; else the connection's end does."""
        return self.chunked or self.length is not None

    def framing(self) -> Framing:
        return Chunked() if self.chunked else Unframed(self.length)


class Connection:
    """One connection; it serves one request after the other until one of them breaks it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._rest = b""
        self._keeps = True
        self._idle = True
        self._heard = monotonic()
        self._silent = False
        self._watch: asyncio.TimerHandle | None = None

    @classmethod
    async def open(cls, origin: Origin, *, timeout: float) -> Self:  # noqa: ASYNC109  # one bound
        """Raises Broken where nobody answers."""
        try:
            async with asyncio.timeout(timeout):
                reader, writer = await asyncio.open_connection(
                    origin.host, origin.port, ssl=certificates() if origin.tls else None
                )
        except (OSError, TimeoutError) as err:
            raise Broken("reset", f"{origin.netloc}: cannot connect: {_told(err)}") from err
        return cls(reader, writer)

    @property
    def reusable(self) -> bool:
        """Whether another request may be sent on it."""
        return (
            self._idle and self._keeps and not self._rest and not self._reader.at_eof()
        ) and not self._writer.is_closing()

    async def send(self, method: str, target: str, headers: Headers, body: bytes) -> None:
        """Sends a request; its body's length is added. Raises Broken."""
        self._idle = False
        framed = without(headers, "content-length")
        if body or method not in ("GET", "HEAD", "DELETE", "OPTIONS"):
            framed = (*framed, ("content-length", str(len(body))))
        try:
            self._writer.write(request_bytes(method, target, framed) + body)
            await self._writer.drain()
        except OSError as err:
            raise Broken("reset", f"the request could not be sent: {_told(err)}") from err

    async def head(self, method: str, *, idle: float | None) -> Head:
        """The head of the final response. Raises Broken."""
        parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
        # h11 wants to know what was asked; the bytes have been sent already.
        parser.send(h11.Request(method=method, target="/", headers=[("host", "x")]))
        parser.send(h11.EndOfMessage())
        data, self._rest = self._rest, b""
        try:
            while True:
                if data:
                    parser.receive_data(data)
                    while (event := parser.next_event()) is not h11.NEED_DATA:
                        if isinstance(event, h11.Response):
                            self._rest = parser.trailing_data[0]
                            return self._head(event, method)
                data = await self._read_within(idle)
                if not data:
                    raise Broken("reset", "the connection was closed before a response head")
        except h11.RemoteProtocolError as err:
            raise Broken("protocol-error", f"no response head: {err}") from err

    async def body(self, head: Head, *, idle: float | None) -> AsyncIterator[list[Piece]]:
        """The pieces that each read gave; ends where the body ends. Raises Broken.

        `idle` is the longest silence, in seconds.
        """
        framing = head.framing()
        data, self._rest = self._rest, b""
        while True:
            pieces = framing.feed(data) if data else []
            if pieces:
                yield pieces
            if framing.fault:
                raise Broken("protocol-error", framing.fault)
            if framing.done:
                self._rest, self._idle = framing.rest, True
                return
            data = await self._read_within(idle)
            if not data:
                self._keeps = False
                if framing.may_end:
                    return
                raise Broken("protocol-error", "the connection was closed before the body's end")

    def abort(self) -> None:
        """Drops the connection at once."""
        self._keeps = False
        if self._watch is not None:
            self._watch.cancel()
        self._writer.transport.abort()

    async def _read_within(self, idle: float | None) -> bytes:
        self._heard = monotonic()
        if idle is not None and self._watch is None:
            self._listen(idle, idle)
        data = await self._read()
        if not data and self._silent:
            raise Broken("idle-timeout", f"nothing came for {idle:g} s")
        return data

    def _listen(self, idle: float, wait: float) -> None:
        """Looks again after `wait` seconds; a timer for each read would cost more than the read."""
        self._watch = asyncio.get_running_loop().call_later(wait, self._look, idle)

    def _look(self, idle: float) -> None:
        left = self._heard + idle - monotonic()
        if self._idle:
            self._watch = None
        elif left > 0:
            self._listen(idle, left)
        else:
            self._silent = True
            self._writer.transport.abort()

    async def _read(self) -> bytes:
        try:
            return await self._reader.read(READ)
        except OSError as err:
            raise Broken("reset", f"the connection broke: {_told(err)}") from err

    def _head(self, event: h11.Response, method: str) -> Head:
        headers = decoded(event.headers.raw_items())
        version = event.http_version.decode()
        closes = has_token(headers, "connection", "close") or version == "1.0"
        chunked = has_token(headers, "transfer-encoding", "chunked")
        length = value_of(headers, "content-length")
        bodiless = method == "HEAD" or event.status_code in _BODILESS
        self._keeps = not closes
        return Head(
            response=Response(event.status_code, version, headers),
            reason=event.reason.decode("latin-1"),
            chunked=chunked and not bodiless,
            length=0 if bodiless else None if length is None else int(length),
        )


@cache
def certificates() -> ssl.SSLContext:
    """Whom to trust, read once."""
    # httpx knows the certificates of this machine and of certifi, and $SSL_CERT_FILE.
    import httpx  # noqa: PLC0415  # slow to import, and needed for https only

    return httpx.create_ssl_context()


def _check(parts: SplitResult, url: str) -> None:
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"expected an http or https URL, got {_shown(url)!r}")
    if parts.username is not None:
        raise UsageError("a URL with a password in it is refused", hint="see --api-key-env")
    if not url.isprintable() or " " in url:
        raise UsageError("expected a URL, got characters that none may have")


def _shown(url: str) -> str:
    return url[:100].rsplit("@", maxsplit=1)[-1]


def _told(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "timed out"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or error}"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
