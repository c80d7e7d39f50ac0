"""A client connection: requests out, answers in, chunk by chunk.

Rule 1: h11 parses heads, `chunked` parses bodies, because h11 hides where a chunk begins.
Rule 2: every failure is a `BrokenExchange` with the ending that it means.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from time import monotonic
from typing import Any, Final, NamedTuple, Protocol, Self, TypeGuard

import h11
from msgspec import Struct

from conformance.core.chunked import ChunkedBodyReader, ChunkPart, PlainBodyReader
from conformance.core.events import UPGRADED, Response
from conformance.wire.dialing import Dialer, OpenedConnection
from conformance.wire.faults import BrokenExchange, describe_network_error, network_hint
from conformance.wire.heads import (
    HEADER_LINES,
    Headers,
    decode_headers,
    has_token,
    header_fields,
    header_value,
    request_head,
    without_headers,
)
from conformance.wire.origin import Origin
from conformance.wire.passing import ChunkedBodyPasser, PlainBodyPasser
from conformance.wire.passing_reader import READ_SIZE, PassingReader
from conformance.wire.tls_end import CUT, was_closed_in_order

_MOST_HEAD: Final = 256 * 1024
_MOST_BEFORE_HEAD: Final = 1 << 20  # bytes, interim responses included
_HALF_CLOSED_S: Final = 5.0
_PLAIN_HEAD: Final = re.compile(
    rb"HTTP/1\.1 ([2-5][0-9]{2}) ([ -~]*+)\r\n%b\r\n" % HEADER_LINES.encode("latin-1")
)
_FRAMING: Final = {
    "content-length": re.compile(r"[0-9]{1,15}"),
    "transfer-encoding": re.compile("chunked"),
}
_WITHOUT_BODY: Final = frozenset({204, 304})


class ResponseHead(Struct, frozen=True):
    """The head of a response, and how its body is framed."""

    response: Response
    reason: str
    chunked: bool
    length: int | None

    @property
    def ends_itself(self) -> bool:
        """Whether the body says where it ends; else the connection's end does."""
        return self.chunked or self.length is not None


class BodySink(Protocol):
    """Who gets a body that is passed on."""

    def take(self, data: bytes, *, ends: bool) -> bool:
        """Passes on what came, and that the body ends; whether there is room for more."""

    async def drain(self) -> None:
        """Waits until there is room."""


class _BodyEnd(Protocol):
    @property
    def fault(self) -> str: ...
    @property
    def done(self) -> bool: ...
    @property
    def may_end(self) -> bool: ...
    @property
    def rest(self) -> bytes: ...


class ClientConnection:
    """One connection; it serves one request after the other until one of them breaks it."""

    def __init__(self, opened: OpenedConnection) -> None:
        self._reader, self._writer = opened.reader, opened.writer
        self._before_target, self._own = opened.before_target, opened.headers
        self._rest = b""
        self._keeps = True
        self._idle = True
        self._last_read = monotonic()
        self._silent = False
        self._watch: asyncio.TimerHandle | None = None

    @classmethod
    async def connect(
        cls,
        origin: Origin,
        *,
        timeout: float,  # noqa: ASYNC109  # one bound
        dialer: Dialer | None = None,
    ) -> Self:
        """Raises BrokenExchange if nothing answers."""
        try:
            async with asyncio.timeout(timeout):
                return cls(await (dialer or Dialer()).open(origin))
        except TimeoutError as err:
            raise _reset_by(err, f"{origin.netloc}: cannot connect") from err

    @property
    def reusable(self) -> bool:
        """Whether another request may be sent on it."""
        return (
            self._idle and self._keeps and not self._rest and not self._reader.at_eof()
        ) and not self._writer.is_closing()

    async def send_request(self, method: str, target: str, headers: Headers, body: bytes) -> None:
        """Sends a request; its body's length is added. Raises BrokenExchange."""
        self._idle = False
        framed = without_headers(headers, "content-length")
        if body or method not in ("GET", "HEAD", "DELETE", "OPTIONS"):
            framed = (*framed, ("content-length", str(len(body))))
        try:
            whole = f"{self._before_target}{target}"
            self._writer.write(request_head(method, whole, (*framed, *self._own)) + body)
            await self._writer.drain()
        except OSError as err:
            raise _reset_by(err, "the request could not be sent") from err

    async def read_head(
        self, method: str, *, idle: float | None, upgrades: bool = False
    ) -> ResponseHead:
        """The head of the final response; one that `upgrades` may be the last of HTTP here.

        Raises BrokenExchange.
        """
        data, self._rest = self._rest or await self._read_within(idle), b""
        if (plain := plain_response(data)) is not None:
            self._rest = data[plain.size :]
            return self._response_head(plain.response, plain.reason, method)
        parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_HEAD)
        # h11 needs to know the request; its bytes have been sent already.
        upgrade = [("upgrade", "x"), ("connection", "upgrade")] if upgrades else []
        parser.send(h11.Request(method=method, target="/", headers=[("host", "x"), *upgrade]))
        parser.send(h11.EndOfMessage())
        came = 0
        try:
            while data:
                came += len(data)
                parser.receive_data(data)
                while (event := parser.next_event()) is not h11.NEED_DATA:
                    if isinstance(event, h11.Response) or _is_upgrade(event):
                        self._rest = parser.trailing_data[0]
                        return self._response_head(*_response_of(event), method)
                if came > _MOST_BEFORE_HEAD:
                    why = f"no response head in the first {_MOST_BEFORE_HEAD:,} bytes"
                    raise BrokenExchange("protocol-error", why)
                data = await self._read_within(idle)
        except h11.RemoteProtocolError as err:
            why = f"no response head: {describe_network_error(err)}"
            raise BrokenExchange("protocol-error", why, hint=network_hint(err)) from err
        raise BrokenExchange("reset", "the connection was closed before a response head")

    async def read_body(
        self, head: ResponseHead, *, idle: float | None
    ) -> AsyncIterator[list[ChunkPart]]:
        """The parts that each read gave; ends where the body ends. Raises BrokenExchange.

        `idle` is the longest silence, in seconds.
        """
        reader = ChunkedBodyReader() if head.chunked else PlainBodyReader(head.length)
        data, self._rest = self._rest, b""
        while True:
            if data and (parts := reader.feed(data)):
                yield parts
            if self._body_is_over(reader):
                return
            data = await self._read_within(idle)
            if not data and self._body_may_end(reader):
                return

    async def pass_body(self, head: ResponseHead, sink: BodySink, *, idle: float | None) -> None:
        """As `read_body`, not taken apart: framed as on the wire, without the last chunk.

        `sink` is given first what came with the head, be it nothing, and then each piece in the
        turn in which it comes.
        """
        passer = ChunkedBodyPasser() if head.chunked else PlainBodyPasser(head.length)

        def take(data: bytes) -> bool:
            self._last_read = monotonic()
            passed = passer.feed(data)
            ends = passer.done and not passer.fault
            return sink.take(passed, ends=ends) and not (ends or passer.fault)

        with_head, self._rest = self._rest, b""
        take(with_head)
        while not self._body_is_over(passer):
            await sink.drain()
            self._begin_waiting(idle)
            try:
                await self._reader.pass_on(take)
            except OSError as err:
                raise _reset_by(err, "the connection broke") from err
            if self._reader.at_eof() and not (passer.done or passer.fault):
                self._check_silent(idle)
                if self._body_may_end(passer):
                    return

    def _body_is_over(self, reader: _BodyEnd) -> bool:
        """Whether the body has ended by itself. Raises BrokenExchange for an invalid one."""
        if reader.fault:
            raise BrokenExchange("protocol-error", reader.fault)
        if reader.done:
            self._rest, self._idle = reader.rest, True
        return reader.done

    def _body_may_end(self, reader: _BodyEnd) -> bool:
        """True; the connection has ended. Raises BrokenExchange where the body has not."""
        self._keeps = False
        if not reader.may_end:
            why = "the connection was closed before the body's end"
            raise BrokenExchange("protocol-error", why)
        if not was_closed_in_order(self._writer.get_extra_info("ssl_object")):
            raise BrokenExchange("protocol-error", CUT)
        return True

    def take_over(self) -> tuple[PassingReader, asyncio.StreamWriter, bytes]:
        """Both ways of the connection for who goes on without HTTP, and what came already."""
        self._idle = True  # no silence of ours drops it
        self._keeps = False
        rest, self._rest = self._rest, b""
        return self._reader, self._writer, rest

    def end_sending(self) -> None:
        """Says that no more comes, and still reads.

        TLS cannot say so: there a silence of a few seconds drops the connection.
        """
        self._keeps = False
        if self._writer.can_write_eof():
            with suppress(OSError):  # the server was quicker
                self._writer.write_eof()
            return
        if self._watch is not None:
            self._watch.cancel()
        self._wait_for_silence(_HALF_CLOSED_S, _HALF_CLOSED_S)

    def abort(self) -> None:
        """Drops the connection at once."""
        self._keeps = False
        if self._watch is not None:
            self._watch.cancel()
        self._writer.transport.abort()

    async def _read_within(self, idle: float | None) -> bytes:
        self._begin_waiting(idle)
        try:
            data = await self._reader.read(READ_SIZE)
        except OSError as err:
            raise _reset_by(err, "the connection broke") from err
        if not data:
            self._check_silent(idle)
        return data

    def _begin_waiting(self, idle: float | None) -> None:
        self._last_read = monotonic()
        if idle is not None and self._watch is None:
            self._wait_for_silence(idle, idle)

    def _check_silent(self, idle: float | None) -> None:
        """Raises BrokenExchange where the connection's end is our own answer to a silence."""
        if self._silent:
            raise BrokenExchange("idle-timeout", f"nothing came for {idle:g} s")

    def _wait_for_silence(self, idle: float, wait: float) -> None:
        """Looks again after `wait` seconds; a timer for each read would cost more than the read."""
        self._watch = asyncio.get_running_loop().call_later(wait, self._check_silence, idle)

    def _check_silence(self, idle: float) -> None:
        left = self._last_read + idle - monotonic()
        if self._idle:
            self._watch = None
        elif left > 0:
            self._wait_for_silence(idle, left)
        else:
            self._silent = True
            self._writer.transport.abort()

    def _response_head(self, response: Response, reason: str, method: str) -> ResponseHead:
        headers = response.headers
        closes = has_token(headers, "connection", "close") or response.http == "1.0"
        chunked = has_token(headers, "transfer-encoding", "chunked")
        length = header_value(headers, "content-length")
        bodiless = method == "HEAD" or response.status in _WITHOUT_BODY
        self._keeps = not closes
        return ResponseHead(
            response=response,
            reason=reason,
            chunked=chunked and not bodiless,
            length=0 if bodiless else None if length is None else int(length),
        )


class PlainResponse(NamedTuple):
    """A response head that is `size` bytes long."""

    response: Response
    reason: str
    size: int


def plain_response(data: bytes) -> PlainResponse | None:
    """The head that `data` begins with; None if it is not plain, or not whole.

    Plain is what nearly every server sends: HTTP/1.1, no interim status, no header of framing
    twice, no coding but chunked. It means the same to h11, which takes ten times as long.
    """
    found = _PLAIN_HEAD.match(data)
    if found is None or found.end() > _MOST_HEAD:
        return None
    headers = header_fields(found[3])
    framing = [(n, v) for name, v in headers if (n := name.lower()) in _FRAMING]
    if len(framing) > 1 or not all(_FRAMING[name].fullmatch(value) for name, value in framing):
        return None
    response = Response(int(found[1]), "1.1", headers)
    return PlainResponse(response, found[2].decode("latin-1"), found.end())


def _is_upgrade(event: Any) -> TypeGuard[h11.InformationalResponse]:
    return isinstance(event, h11.InformationalResponse) and event.status_code == UPGRADED


def _response_of(event: h11.Response | h11.InformationalResponse) -> tuple[Response, str]:
    version, headers = event.http_version.decode(), decode_headers(event.headers.raw_items())
    return Response(event.status_code, version, headers), event.reason.decode("latin-1")


def _reset_by(error: OSError, what: str) -> BrokenExchange:
    words = describe_network_error(error)
    return BrokenExchange("reset", f"{what}: {words}", hint=network_hint(error))
