"""A live server over WebSockets, for dialects that are spoken over them.

Rule 1: a request goes out as the message that its dialect says, and its answer is what a recorded
WebSocket is taken apart into: the head of the upgrade, the body of the request, a line for each
message.
Rule 2: a connection whose answer has ended takes the next request, so that a follow-up comes on
the one that gave the answer before it; requests at the same time have separate connections.
Rule 3: an upgrade that is refused is an answer of HTTP, and so is a list of models.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from time import monotonic
from typing import Any, Final

from msgspec.structs import replace

from conformance.cassette import CassetteClock
from conformance.cassette.connections import as_line
from conformance.cassette.importers.socket_messages import closed_by
from conformance.core.events import Chunk, Ending, Exchange, Request, Response
from conformance.core.json_values import decode_json
from conformance.dialects import SOCKET_FORMS, SUPPORTED, dialect_at
from conformance.dialects.connection import SocketAnswers, SocketForm
from conformance.targets.server import FetchedAnswer, LiveServer, NoAnswerError
from conformance.wire.client import ClientConnection
from conformance.wire.dialing import Dialer
from conformance.wire.faults import BrokenExchange, ExchangeLimits
from conformance.wire.heads import Headers, lower_names
from conformance.wire.origin import Origin
from conformance.wire.received import MOST_RECORDED, ReceivedBody
from conformance.wire.socket_parts import SocketPart
from conformance.wire.socket_stream import SocketEndedError, SocketFaultError, SocketStream
from conformance.wire.upgrade import accepting_key, new_key, upgrade_headers

_NORMAL: Final = 1000
_STREAM: Final = "stream"  # a field of HTTP: what comes over a WebSocket is a stream


class AnsweringSocket:
    """One connection; `names` are those of the answers that it gave."""

    def __init__(self, stream: SocketStream, request: Request, response: Response) -> None:
        self.names: set[str] = set()
        self.upgrade = request
        self.response = response
        self._stream = stream

    @property
    def is_open(self) -> bool:
        """Whether it can take another request, as far as is known."""
        return not (self._stream.is_over or self._stream.writer.is_closing())

    async def ask(
        self, form: SocketForm, body: Mapping[str, Any], limits: ExchangeLimits, most_bytes: int
    ) -> FetchedAnswer:
        """The answer to one request, up to where it ends or is broken off."""
        taking = _TakenAnswer(form, body, most_bytes)
        text = json.dumps(form.message(body), ensure_ascii=False)
        end: Ending = "eof"
        fault = ""
        try:
            await self._stream.send("text", (text.encode("utf-8", "surrogatepass"),))
            while not taking.is_whole:
                part = await _receive_within(self._stream, limits, taking.begun)
                if not part.is_message:
                    end = closed_by("server", part.code)
                    await self._stream.close(part.code)
                    break
                taking.take(part.data)
        except SocketEndedError as err:
            end, fault = "reset" if err.is_reset else "protocol-error", str(err)
        except SocketFaultError as err:
            end, fault = "protocol-error", f"the server broke the protocol: {err}"
        except BrokenExchange as broken:
            end, fault = broken.end, str(broken)
        if not taking.is_whole:
            self.drop()
        return self._fetched(taking, dict(body), end, fault)

    async def leave(self) -> None:
        """Closes, and does not wait for the other close."""
        await self._stream.close(_NORMAL)
        self.drop()

    def drop(self) -> None:
        """Ends the connection at once."""
        self._stream.is_over = True
        self._stream.writer.close()

    def _fetched(
        self, taking: _TakenAnswer, body: dict[str, Any], end: Ending, fault: str
    ) -> FetchedAnswer:
        chunks, name = taking.answer()
        self.names.add(name)
        exchange = Exchange(
            request=replace(self.upgrade, json=body), response=self.response, chunks=chunks, end=end
        )
        clock = CassetteClock(head=0.0, end=taking.silence_ms, begun=taking.begun * 1000)
        return FetchedAnswer(exchange, clock, fault, taking.received.recorded_size)


class _TakenAnswer:
    """Messages of the server as they come, until the answer to one request has ended."""

    def __init__(self, form: SocketForm, body: Mapping[str, Any], most_bytes: int) -> None:
        self.received = ReceivedBody(most_bytes)
        self.begun = self._latest = monotonic()
        self._answers = SocketAnswers(form)
        self._answers.add(0, "client", form.message(body))
        self._messages: list[tuple[bytes, float]] = []

    @property
    def is_whole(self) -> bool:
        return self._answers.is_quiet

    @property
    def silence_ms(self) -> float:
        return round((monotonic() - self._latest) * 1000, 3)

    def take(self, data: bytes) -> None:
        """Raises BrokenExchange where that is too much."""
        line, broken = self.received.take(as_line(data))
        self._messages.append((line, monotonic()))
        self._latest = self._messages[-1][1]
        self._answers.add(len(self._messages), "server", decode_json(data.decode(errors="replace")))
        if broken is not None:
            raise broken

    def answer(self) -> tuple[tuple[Chunk, ...], str]:
        """Return the messages of the answer, without those of no answer, and its id."""
        first, *_ = self._answers.close()
        chunks, before = [], self.begun
        for at in first.messages:
            data, came = self._messages[at - 1]
            chunks.append(Chunk(data, round((came - before) * 1000, 3)))
            before = came
        return tuple(chunks), first.name


class SocketServer(LiveServer):
    """As `LiveServer`; `origin` is where upgrades are requested. Closed with its connections."""

    def __init__(self, url: str, origin: Origin, **more: Any) -> None:
        super().__init__(url, **more)
        self._origin = origin
        self._idle: list[AnsweringSocket] = []
        self._dialer = Dialer()

    async def __aexit__(self, *_: object) -> None:
        for each in self._idle:
            await each.leave()
        await super().__aexit__(*_)

    async def fetch(
        self,
        request: Request,
        secrets: Mapping[str, str] | None = None,
        most_bytes: int = MOST_RECORDED,
        *,
        stops: asyncio.Event | None = None,
    ) -> FetchedAnswer:
        form = SOCKET_FORMS.get(dialect_at(request.path) or "")
        if form is None or request.method != "POST" or not isinstance(request.json, dict):
            return await super().fetch(request, secrets, most_bytes, stops=stops)
        body = {key: value for key, value in request.json.items() if key != _STREAM}
        known = self._idle_socket(body.get(_earlier_key(request.path)))
        if known is not None:
            fetched = await self._ask(known, form, body, most_bytes)
            if fetched.exchange.chunks or known.is_open:
                return fetched  # else it had been closed before, and the request has not arrived
        opened = await self._open(request, secrets or {})
        if isinstance(opened, FetchedAnswer):
            return opened
        return await self._ask(opened, form, body, most_bytes)

    async def _ask(
        self, socket: AnsweringSocket, form: SocketForm, body: Mapping[str, Any], most_bytes: int
    ) -> FetchedAnswer:
        fetched = await socket.ask(form, body, self.limits, most_bytes)
        if socket.is_open:
            self._idle.append(socket)
        return fetched

    def _idle_socket(self, earlier: Any) -> AnsweringSocket | None:
        self._idle = [each for each in self._idle if each.is_open]
        named = [each for each in self._idle if earlier in each.names]
        found = next(iter((*named, *self._idle)), None)
        if found is not None:
            self._idle.remove(found)
        return found

    async def _open(
        self, request: Request, secrets: Mapping[str, str]
    ) -> AnsweringSocket | FetchedAnswer:
        """A new connection; where the upgrade is refused, what came instead."""
        sent = self._request_to_send(Request("GET", request.path, request.headers), secrets)
        plain = tuple((n, v) for n, v in lower_names(tuple(sent.headers.items())) if n != "host")
        key, begun = new_key(), monotonic()
        headers: Headers = (("Host", self._origin.netloc), *plain, *upgrade_headers(key))
        target = sent.url.raw_path.decode()
        recorded = replace(request, method="GET", path=target, headers=lower_names(headers))
        try:
            connection = await ClientConnection.connect(
                self._origin, timeout=self.limits.connect, dialer=self._dialer
            )
            await connection.send_request("GET", target, headers, b"")
            head = await connection.read_head("GET", idle=self.limits.timeout, upgrades=True)
            if not head.response.is_upgrade:
                parts = [p async for read in connection.read_body(head, idle=None) for p in read]
                connection.abort()
                chunks = (Chunk(b"".join(part.data for part in parts)),) if parts else ()
                refused = Exchange(request=recorded, response=head.response, chunks=chunks)
                return FetchedAnswer(refused, CassetteClock(begun=begun * 1000))
        except BrokenExchange as broken:
            message = f"{self._origin.netloc}: {broken}"
            raise NoAnswerError(message, broken.end, hint=broken.hint) from broken
        if head.response.header("sec-websocket-accept") != accepting_key(key):
            connection.abort()
            message = f"{self._origin.netloc}: the upgrade was accepted with another key"
            raise NoAnswerError(message, "protocol-error")
        reader, writer, early = connection.take_over()
        stream = SocketStream(reader, writer, "client", early=early)
        return AnsweringSocket(stream, recorded, head.response)


def _earlier_key(path: str) -> str:
    """The key under which a request names an earlier answer."""
    form = SUPPORTED[dialect_at(path) or ""].request
    return form.previous if form else ""


async def _receive_within(stream: SocketStream, limits: ExchangeLimits, begun: float) -> SocketPart:
    """The next message, or the close. Raises BrokenExchange where it takes too long."""
    left = min(limits.idle, begun + limits.timeout - monotonic())
    try:
        async with asyncio.timeout(max(left, 0)):
            return await stream.receive()
    except TimeoutError as err:
        raise limits.fell_silent(begun) from err
