"""One client of the proxy: its requests, one after the other, and their answers.

Rule 1: one connection to an upstream for each of the client's, so that reuse is the client's own.
Rule 2: what came is recorded before it is passed on, the end too. So whatever a client has seen is
in the cassette (or held back by redaction), even if the recorder is killed in that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import perf_counter

import msgspec

from conformance.core.errors import CassetteError
from conformance.core.events import Ending, Request
from conformance.targets.recording.exchange import ExchangeRecorder
from conformance.targets.recording.folder import RecordingFolder
from conformance.wire.chunked import ChunkPart
from conformance.wire.client import ClientConnection, ResponseHead
from conformance.wire.content_coding import ask_for_readable
from conformance.wire.faults import BrokenExchange
from conformance.wire.heads import end_to_end, without_headers
from conformance.wire.origin import Origin
from conformance.wire.requests import HttpRequest, RequestRejected, json_or_none
from conformance.wire.server import PeerGoneError, ServerConnection

OnFailure = Callable[[BaseException], None]


@dataclass(frozen=True, slots=True)
class RelayRoute:
    """Where one request goes, and what it is recorded in; nowhere if `folder` is None."""

    origin: Origin
    folder: RecordingFolder | None


ChooseRoute = Callable[[HttpRequest], RelayRoute]


@dataclass(frozen=True, slots=True)
class ProxyTimeouts:
    """Seconds: to connect, and the longest silence of the upstream before and within a body."""

    connect: float = 10.0
    idle: float = 600.0


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
            await self._refuse(refused.status, str(refused), "invalid_request_error")
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
                recorded.record_end(broken.end, str(broken))
                await self._pass_on_break(broken, recorded)
        finally:
            # Whoever left or was stopped in its midst ends it; an end that was recorded stands.
            recorded.record_end("client-closed" if self._client.gone else "open")
            await self._client.unwatch()
        return stays

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
        self._client.watch(upstream.abort)
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
        if self._client.gone and not head.ends_itself:
            raise PeerGoneError  # we closed the upstream ourselves: its end says nothing
        recorded.record_end("eof")
        await self._client.end_response()
        return stays

    async def _pass_on_break(self, broken: BrokenExchange, recorded: GuardedRecorder) -> None:
        """The client learns of a broken upstream as it would have learned directly."""
        if not recorded.has_head:
            await self._refuse(502, str(broken), "upstream_error")
        elif broken.end == "reset":
            await self._client.reset()

    async def _refuse(self, status: int, why: str, kind: str) -> None:
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
            with self._guarded():
                self._recorder = folder.begin_exchange(recorded, self._came)

    def record_head(self, head: ResponseHead) -> None:
        self.has_head = True
        if self._recorder is not None:
            with self._guarded():
                self._recorder.record_head(head.response)

    def record_parts(self, parts: list[ChunkPart]) -> None:
        if self._recorder is None:
            return
        try:  # not by `_guarded`: this is done for every read
            self._recorder.record_parts(parts)
        except (CassetteError, OSError) as err:
            self._give_up(err)

    def record_end(self, how: Ending, note: str = "") -> None:
        """A second end says nothing."""
        if not self._begun:
            self.record_request()
        if self._folder is not None and self._recorder is not None:
            with self._guarded():
                self._folder.end_exchange(self._recorder, how, note)
        self._recorder = None

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (CassetteError, OSError) as err:
            self._give_up(err)

    def _give_up(self, error: BaseException) -> None:
        self._recorder = None
        self._fail(error)


def _check_target(request: HttpRequest) -> None:
    if not request.target.startswith("/"):
        why = "expected a path; this proxy stands in for one server, give its URL as base URL"
        raise RequestRejected(400, why)
