"""A proxy that records: the client gets each chunk as it arrives, and so does the disk.

Rule 1: the client sees what it would have seen directly: bytes, cuts, and how it ended (a reset is
passed on as a reset, an early close as one). Only headers of one connection are changed, and
`accept-encoding` is narrowed to what can be recorded decoded.
Rule 2: recording that fails never harms the client; it is counted in `failures`.
Rule 3: one connection to an upstream for each of the client's, so that reuse is the client's own.
Rule 4: what came is recorded before it is passed on, the end too. So whatever a client has seen is
in the cassette (or held back by redaction), even if the recorder is killed in that moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from time import perf_counter
from typing import Final, Self

import msgspec
from msgspec import Struct

from conformance.core.errors import CassetteError, ConformanceError
from conformance.core.events import Ending, Request
from conformance.targets.recording.exchange import ExchangeRecorder
from conformance.targets.recording.folder import RecordingFolder
from conformance.wire.chunked import ChunkPart
from conformance.wire.client import ClientConnection, ResponseHead
from conformance.wire.content_coding import ask_for_readable
from conformance.wire.faults import BrokenExchange
from conformance.wire.heads import end_to_end, without_headers
from conformance.wire.origin import Origin, bracketed
from conformance.wire.requests import HttpRequest, RequestRejected, json_or_none
from conformance.wire.server import PeerGoneError, ServerConnection, listening

_MOST_CLIENTS: Final = 1024

OnFailure = Callable[[BaseException], None]


class RelayRoute(Struct, frozen=True):
    """Where one request goes, and what it is recorded in; nowhere if `folder` is None."""

    origin: Origin
    folder: RecordingFolder | None


ChooseRoute = Callable[[HttpRequest], RelayRoute]


class ProxyTimeouts(Struct, frozen=True):
    """Seconds: to connect, and the longest silence of the upstream before and within a body."""

    connect: float = 10.0
    idle: float = 600.0


class RecordingProxy:
    """Listens, passes on, records; an asynchronous context manager. `url` is known inside it.

    `route` says of each request where it goes, and what records it; default: to `upstream`, in
    `folder`. Raises UsageError where it cannot listen.
    """

    def __init__(
        self,
        upstream: Origin,
        folder: RecordingFolder,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        timeouts: ProxyTimeouts | None = None,
        warn: Callable[[str], None] | None = None,
        route: ChooseRoute | None = None,
    ) -> None:
        self.failures = 0
        self.url = ""
        self._folder = folder
        self._route = route or (lambda _: RelayRoute(upstream, folder))
        self._host, self._port = host, port
        self._timeouts = timeouts or ProxyTimeouts()
        self._warn = warn or (lambda _: None)
        self._clients = 0
        self._listening = AsyncExitStack()

    async def __aenter__(self) -> Self:
        listener = listening(self._host, self._port, self._accept_client)
        port = await self._listening.enter_async_context(listener)
        self.url = f"http://{bracketed(self._host)}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._listening.aclose()
        self._folder.close()

    async def _accept_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if self._clients >= _MOST_CLIENTS:
            self._warn(f"more than {_MOST_CLIENTS} connections at once: one was refused")
            return
        self._clients += 1
        client = ServerConnection(reader, writer)
        try:
            await RecordedConnection(
                client, self._route, self._timeouts, self._note_failure
            ).serve_client()
        except Exception as err:  # noqa: BLE001  # rule 2
            self._note_failure(err)
        finally:
            self._clients -= 1

    def _note_failure(self, error: BaseException) -> None:
        self.failures += 1
        text = str(error) if isinstance(error, ConformanceError) else f"{error!r}"
        self._warn(f"not recorded: {text}")


class RecordedConnection:
    """Serves one connection of a client until either side ends it."""

    def __init__(
        self, client: ServerConnection, route: ChooseRoute, timeouts: ProxyTimeouts, fail: OnFailure
    ) -> None:
        self._client = client
        self._choose_route = route
        self._timeouts = timeouts
        self._fail = fail
        self._upstreams: dict[Origin, ClientConnection] = {}

    async def serve_client(self) -> None:
        """Raises nothing that the client, the upstream or the disk does."""
        try:
            while (request := await self._client.next_request()) is not None:
                if not await self._relay_exchange(request):
                    break
        except RequestRejected as refused:
            await self._refuse_client(refused.status, str(refused), "invalid_request_error")
        except PeerGoneError:
            pass
        finally:
            self._drop_upstreams()
            await self._client.close()

    async def _relay_exchange(self, request: HttpRequest) -> bool:
        """One request and its answer. Whether the connection can go on."""
        _check_target(request)
        route = self._choose_route(request)
        recorded = GuardedRecorder(
            route.folder, self._fail, request, route.origin.target(request.target)
        )
        stays = False
        try:
            stays = await self._relay_answer(request, route.origin, recorded)
        except BrokenExchange as broken:
            if not self._client.gone:
                recorded.record_end("client-closed" if self._has_left else broken.end, str(broken))
                await self._pass_on_break(broken, recorded)
        finally:
            # Whoever left or was stopped in its midst ends it; an end that was recorded stands.
            recorded.record_end("client-closed" if self._has_left else "open")
            await self._client.unwatch()
        return stays

    @property
    def _has_left(self) -> bool:
        """Whether the client has left, as far as anybody can tell who wants to write nothing."""
        return self._client.gone or self._client.silent

    async def _upstream_connection(self, origin: Origin) -> ClientConnection:
        known = self._upstreams.pop(origin, None)
        if known is not None and not known.reusable:
            known.abort()
            known = None
        upstream = known or await ClientConnection.connect(origin, timeout=self._timeouts.connect)
        self._upstreams[origin] = upstream
        return upstream

    async def _relay_answer(
        self, request: HttpRequest, origin: Origin, recorded: GuardedRecorder
    ) -> bool:
        upstream = await self._upstream_connection(origin)
        headers = ask_for_readable(without_headers(end_to_end(request.headers), "host", "expect"))
        headers = (("Host", origin.netloc), *headers)
        idle = self._timeouts.idle
        await upstream.send_request(request.method, recorded.target, headers, request.body)
        self._client.watch(upstream.abort, upstream.end_sending)
        recorded.record_request()  # while the upstream thinks
        head = await upstream.read_head(request.method, idle=idle)
        recorded.record_head(head)
        stays = self._client.start_response(
            request,
            head.response.status or 502,
            head.response.headers,
            reason=head.reason,
            chunked=head.chunked,
            has_length=head.length is not None,
        )
        async for parts in upstream.read_body(head, idle=idle):
            recorded.record_parts(parts)
            await self._client.send_parts(parts)
        # Where the upstream was told that the client says no more, closing may be its answer.
        ends_whole = head.ends_itself or not self._has_left
        recorded.record_end("eof" if ends_whole else "client-closed")
        await self._client.end_response()
        return stays

    async def _pass_on_break(self, broken: BrokenExchange, recorded: GuardedRecorder) -> None:
        """The client learns of a broken upstream as it would have learned directly."""
        if not recorded.has_head:
            await self._refuse_client(502, str(broken), "upstream_error")
        elif broken.end == "reset":
            await self._client.reset()

    async def _refuse_client(self, status: int, why: str, kind: str) -> None:
        error = {"message": f"conformance record: {why}", "type": kind}
        with suppress(PeerGoneError):
            await self._client.refuse(status, msgspec.json.encode({"error": error}))

    def _drop_upstreams(self) -> None:
        for upstream in self._upstreams.values():
            upstream.abort()
        self._upstreams.clear()


class GuardedRecorder:
    """The recording of one exchange; where it fails, that is told once and the rest given up."""

    def __init__(
        self, folder: RecordingFolder | None, fail: OnFailure, request: HttpRequest, target: str
    ) -> None:
        self.target = target
        self.has_head = False
        self._folder = folder
        self._fail = fail
        self._request = request
        self._came = perf_counter()
        self._begun = False
        self._recorder: ExchangeRecorder | None = None

    def record_request(self) -> None:
        """Records the request, as of when it came."""
        self._begun = True
        request, folder = self._request, self._folder
        if folder is not None:
            body = json_or_none(request.body)
            recorded = Request(request.method, self.target, request.headers, body)
            with self._guarded_recording():
                self._recorder = folder.begin_exchange(recorded, self._came)

    def record_head(self, head: ResponseHead) -> None:
        self.has_head = True
        if self._recorder is not None:
            with self._guarded_recording():
                self._recorder.record_head(head.response)

    def record_parts(self, parts: list[ChunkPart]) -> None:
        if self._recorder is not None:
            with self._guarded_recording():
                self._recorder.record_parts(parts)

    def record_end(self, how: Ending, note: str = "") -> None:
        """A second end says nothing."""
        if not self._begun:
            self.record_request()
        if self._folder is not None and self._recorder is not None:
            with self._guarded_recording():
                self._folder.end_exchange(self._recorder, how, note)
        self._recorder = None

    @contextmanager
    def _guarded_recording(self) -> Iterator[None]:
        try:
            yield
        except (CassetteError, OSError) as err:
            self._recorder = None
            self._fail(err)


def _check_target(request: HttpRequest) -> None:
    if not request.target.startswith("/"):
        why = "expected a path; this proxy stands in for one server, give its URL as base URL"
        raise RequestRejected(400, why)
