"""A proxy that records: the client gets each chunk as it arrives, and then the recorder does.

Rule 1: the client sees what it would have seen directly: bytes, cuts, and how it ended (a reset is
passed on as a reset, an early close as one). Only headers of one connection are changed, and
`accept-encoding` is narrowed to what can be recorded decoded.
Rule 2: recording that fails never harms the client; it is counted in `failures`.
Rule 3: one connection to an upstream for each of the client's, so that reuse is the client's own.
Rule 4: what came is passed on first, and then recorded. A `RecordingQueue` takes that to a process
of its own: if the recorder is killed, at most what came in the last 100 ms is not in the cassette
(or held back by redaction), which has no end then. A `RecordingFolder` writes at once, in the loop.
Rule 5: whom it cannot serve hears so: too many connections, bodies too large in all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from time import perf_counter
from typing import Final, Self

import msgspec
from msgspec import Struct

from conformance.core.errors import ConformanceError
from conformance.core.events import Ending, Request, Side
from conformance.core.excerpts import now_about, redacted
from conformance.targets.recording.folder import RecordingFolder
from conformance.targets.recording.guarded import (
    ExchangeLog,
    GuardedRecorder,
    JoinedLogs,
)
from conformance.targets.recording.queued import RecordingQueue
from conformance.wire.client import ClientConnection, ResponseHead
from conformance.wire.dialing import Dialer
from conformance.wire.faults import BrokenExchange
from conformance.wire.heads import ask_for_readable, end_to_end, without_headers
from conformance.wire.hosts import AllowedHosts
from conformance.wire.origin import Origin, bracketed
from conformance.wire.requests import HttpRequest, RequestRejected
from conformance.wire.server import BodyBudget, PeerGoneError, ServerConnection, listening
from conformance.wire.socket_parts import SocketPart
from conformance.wire.upgrade import (
    accepted_head,
    asks_upgrade,
    missing_library,
    offered_headers,
)

_MOST_BODIES: Final = 256 * 1024 * 1024
_MOST_REFUSED: Final = 256  # that are reported so at once; more are closed

Recordings = RecordingFolder | RecordingQueue
NewLog = Callable[[], ExchangeLog]


class RelayRoute(Struct, frozen=True):
    """Where one request goes, and what it is recorded in; nowhere if `folder` is None."""

    origin: Origin
    folder: Recordings | None


ChooseRoute = Callable[[HttpRequest], RelayRoute]


class ProxyTimeouts(Struct, frozen=True):
    """Seconds: to connect, and the longest silence of the upstream before and within a body."""

    connect: float = 10.0
    idle: float = 600.0


class ProxyLimits(Struct, frozen=True):
    """Connections of clients at once, and bytes of all their requests' bodies together."""

    clients: int = 1024
    bodies: int = _MOST_BODIES


class RecordingProxy:
    """Listens, passes on, records; an asynchronous context manager. `url` is known inside it.

    `route` says of each request where it goes, and what records it; default: to `upstream`, in
    `folder`, or nowhere without one. `watch` gives what else is known of each exchange, as it
    comes. `hosts` are the names that a request may be for; default: any.

    Raises UsageError where it cannot listen.
    """

    def __init__(
        self,
        upstream: Origin,
        folder: Recordings | None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        timeouts: ProxyTimeouts | None = None,
        warn: Callable[[str], None] | None = None,
        route: ChooseRoute | None = None,
        limits: ProxyLimits | None = None,
        hosts: AllowedHosts | None = None,
        watch: NewLog | None = None,
    ) -> None:
        self._limits = limits or ProxyLimits()
        self._body_budget = BodyBudget(self._limits.bodies)
        self._hosts = hosts
        self._watch = watch
        self.failures = 0
        self.url = ""
        self._folder = folder
        self._route = route or (lambda _: RelayRoute(upstream, folder))
        self._host, self._port = host, port
        self._timeouts = timeouts or ProxyTimeouts()
        self._warn = warn or (lambda _: None)
        self._clients = 0
        self._dialer = Dialer()
        self._listening = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            if isinstance(self._folder, RecordingQueue):
                stack.push_async_callback(self._folder.close)
                await self._folder.start(self._note_failure)
            elif self._folder is not None:
                stack.callback(self._folder.close)
            listener = listening(self._host, self._port, self._accept_client)
            port = await stack.enter_async_context(listener)
            self._listening = stack.pop_all()
        self.url = f"http://{bracketed(self._host)}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._listening.aclose()

    async def _accept_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        client = ServerConnection(reader, writer, budget=self._body_budget)
        connection = RecordedConnection(
            client, self._choose_route, self._timeouts, self._new_log, self._dialer
        )
        self._clients += 1
        try:
            if self._clients <= self._limits.clients:
                await connection.serve_client()
            elif self._clients <= self._limits.clients + _MOST_REFUSED:
                self._warn(f"more than {self._limits.clients:,} connections: one was refused")
                await connection.refuse_client(503, "too many connections", "overloaded_error")
        except Exception as err:  # noqa: BLE001  # rule 2
            self._note_failure(err)
        finally:
            self._clients -= 1

    def _choose_route(self, request: HttpRequest) -> RelayRoute:
        """Raises RequestRejected for what is no request of this server."""
        _check_target(request)
        if self._hosts is not None:
            self._hosts.check_request(request)
        return self._route(request)

    def _new_log(self, folder: Recordings | None) -> ExchangeLog:
        logs: list[ExchangeLog] = [] if self._watch is None else [self._watch()]
        if isinstance(folder, RecordingQueue):
            logs.insert(0, folder.new_log())
        elif folder is not None:
            logs.insert(0, GuardedRecorder(folder, self._note_failure))
        return logs[0] if len(logs) == 1 else JoinedLogs(*logs)

    def _note_failure(self, error: BaseException) -> None:
        self.failures += 1
        text = str(error) if isinstance(error, ConformanceError) else f"{error!r}"
        self._warn(f"not recorded: {redacted(text)}")


class RecordedConnection:
    """Serves one connection of a client until either side ends it."""

    def __init__(
        self,
        client: ServerConnection,
        route: ChooseRoute,
        timeouts: ProxyTimeouts,
        new_log: Callable[[Recordings | None], ExchangeLog],
        dialer: Dialer,
    ) -> None:
        self._client = client
        self._dialer = dialer
        self._choose_route = route
        self._timeouts = timeouts
        self._new_log = new_log
        self._upstreams: dict[Origin, ClientConnection] = {}

    async def serve_client(self) -> None:
        """Raises nothing that the client, the upstream or the disk does."""
        try:
            while (request := await self._client.next_request()) is not None:
                if not await self._relay_exchange(request):
                    break
        except RequestRejected as refused:
            await self.refuse_client(refused.status, str(refused), "invalid_request_error")
        except PeerGoneError:
            pass
        finally:
            self._drop_upstreams()
            await self._client.close()

    async def _relay_exchange(self, request: HttpRequest) -> bool:
        """One request and its answer. Whether the connection can go on."""
        route = self._choose_route(request)
        if asks_upgrade(request) and (why := missing_library()):
            raise RequestRejected(501, why)
        recorded = RelayedExchange(self._new_log(route.folder), request, route)
        stays = False
        try:
            stays = await self._relay_answer(recorded)
        except BrokenExchange as broken:
            if not self._client.gone:
                how: Ending = "client-closed" if self._has_left else broken.end
                recorded.record_end(how, broken.explanation)
                await self._pass_on_break(broken, has_head=recorded.has_head)
        finally:
            # Whoever left or was stopped in its midst ends it; an end that was recorded stands.
            recorded.record_end("client-closed" if self._has_left else "open")
            await self._client.unwatch()
        return stays

    @property
    def _has_left(self) -> bool:
        """Whether the client has left, as far as anybody can see who wants to write nothing."""
        return self._client.gone or self._client.silent

    async def _upstream_connection(self, origin: Origin) -> ClientConnection:
        known = self._upstreams.pop(origin, None)
        if known is not None and not known.reusable:
            known.abort()
            known = None
        upstream = known or await ClientConnection.connect(
            origin, timeout=self._timeouts.connect, dialer=self._dialer
        )
        self._upstreams[origin] = upstream
        return upstream

    async def _relay_answer(self, recorded: RelayedExchange) -> bool:
        request, origin = recorded.request, recorded.route.origin
        upstream = await self._upstream_connection(origin)
        headers = ask_for_readable(without_headers(end_to_end(request.headers), "host", "expect"))
        headers = (("Host", origin.netloc), *headers)
        if upgrades := asks_upgrade(request):
            headers = offered_headers(headers)
        idle = self._timeouts.idle
        await upstream.send_request(request.method, recorded.target, headers, request.body)
        self._client.watch(upstream.abort, upstream.end_sending)
        recorded.record_request()  # while the upstream thinks
        head = await upstream.read_head(request.method, idle=idle, upgrades=upgrades)
        if head.response.is_upgrade:
            await self._relay_socket(recorded, head, upstream)
            return False
        stays = self._client.start_response(
            request,
            head.response.status or 502,
            head.response.headers,
            reason=head.reason,
            chunked=head.chunked,
            has_length=head.length is not None,
            alone=False,
        )
        await upstream.pass_body(head, _RelayedBody(self._client, recorded, head), idle=idle)
        self._client.write_end()
        # Where the upstream learnt that the client sends no more, closing may be its answer.
        ends_whole = head.ends_itself or not self._has_left
        if self._client.gone and not head.ends_itself:
            raise PeerGoneError  # we closed the upstream ourselves: its end says nothing
        recorded.record_end("eof" if ends_whole else "client-closed")
        await self._client.drain()
        return stays

    async def _relay_socket(
        self, recorded: RelayedExchange, head: ResponseHead, upstream: ClientConnection
    ) -> None:
        """The rest of both connections, until one of them ends."""
        from conformance.targets.recording.socket_relay import SocketRelay  # noqa: PLC0415  # its library is an extra

        client, server = await self._client.take_over(), upstream.take_over()
        recorded.record_head(head)
        relay = SocketRelay(client, server, recorded, self._timeouts.idle, self._client.budget)
        await relay.pass_on(accepted_head(head))

    async def _pass_on_break(self, broken: BrokenExchange, *, has_head: bool) -> None:
        """The client learns of a broken upstream as it would have learned directly."""
        if not has_head:
            await self.refuse_client(502, broken.explanation, "upstream_error")
        elif broken.end == "reset":
            await self._client.reset()

    async def refuse_client(self, status: int, why: str, kind: str) -> None:
        """The last answer on this connection."""
        error = {"message": f"conformance: {why}", "type": kind}
        with suppress(PeerGoneError):
            await self._client.refuse(status, msgspec.json.encode({"error": error}))

    def _drop_upstreams(self) -> None:
        for upstream in self._upstreams.values():
            upstream.abort()
        self._upstreams.clear()


class RelayedExchange:
    """One exchange under way: what its recording learns, and when that came."""

    def __init__(self, log: ExchangeLog, request: HttpRequest, route: RelayRoute) -> None:
        now_about(Request(request.method, request.target, request.headers))
        self.request = request
        self.route = route
        self.target = route.origin.target(request.target)
        self.has_head = False
        self._log = log
        self._came = perf_counter()
        self._begun = False

    def record_request(self) -> None:
        self._begun = True
        self._log.record_request(self.request, self.target, self._came)

    def record_head(self, head: ResponseHead) -> None:
        self.has_head = True
        self._log.record_head(head.response, perf_counter(), chunked=head.chunked)

    def record_body(self, data: bytes) -> None:
        self._log.record_body(data, perf_counter())

    def record_part(self, side: Side, part: SocketPart) -> None:
        self._log.record_part(side, part, perf_counter())

    def record_end(self, how: Ending, note: str = "") -> None:
        """A second end says nothing."""
        if not self._begun:
            self.record_request()
        self._log.record_end(how, perf_counter(), redacted(note))


class _RelayedBody:
    """Where a body goes: to the client, and then into the recording."""

    def __init__(
        self, client: ServerConnection, recorded: RelayedExchange, head: ResponseHead
    ) -> None:
        self._client = client
        self._recorded = recorded
        self._head = head

    def take(self, data: bytes, *, ends: bool) -> bool:
        self._client.write_framed(data, ends=ends)
        if not self._recorded.has_head:
            self._recorded.record_head(self._head)
        if data:
            self._recorded.record_body(data)
        return self._client.has_room

    async def drain(self) -> None:
        """As `BodySink`. Raises PeerGoneError."""
        await self._client.drain()


def _check_target(request: HttpRequest) -> None:
    if request.method == "CONNECT":
        why = "CONNECT would hide what is to be recorded; give this proxy's http URL to the client"
        where = f"https://{request.target}"
        raise RequestRejected(400, f"{why} as base URL, and --upstream {where} to the proxy")
    if not request.target.startswith("/"):
        why = "expected a path: this proxy forwards to one server; use its URL as base URL"
        raise RequestRejected(400, why)
