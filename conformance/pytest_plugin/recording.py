"""Recording in one test, by the proxy or inside the process, while the test goes on.

What records lives in a thread with its own loop (`running_in_thread`). Inside the process a
chunk is what httpx hands over: a transfer chunk, or what one read gave of it. Rules about what is
recorded, and when, are those of the recording proxy.
`new_episodes` replays what was recorded, and only what was not goes on to the server. Both ways
lead through the recording proxy, so the client sees the same cuts and endings as from either alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx

from conformance.core.events import Response
from conformance.pytest_plugin.options import ASGI
from conformance.pytest_plugin.responses import ending_of
from conformance.pytest_plugin.transport import Portal
from conformance.targets import asgi
from conformance.targets.recording import Origin, RecordingFolder, RecordingProxy
from conformance.targets.recording.guarded import GuardedRecorder, OnFailure
from conformance.targets.recording.proxy import RelayedExchange, RelayRoute
from conformance.targets.replay import ReplayServer
from conformance.targets.replay.matching import ReplaySession
from conformance.wire.client import ResponseHead
from conformance.wire.heads import (
    ask_for_readable,
    decode_headers,
    end_to_end,
    lower_names,
    without_headers,
)
from conformance.wire.requests import HttpRequest


@asynccontextmanager
async def recording_transport(
    url: str, shelf: RecordingFolder, fail: OnFailure
) -> AsyncIterator[Portal]:
    """A transport that records what the server of this URL answers, or `asgi:MODULE:APP`.

    Raises UsageError for what is neither, or does not start.
    """
    is_application = url.startswith(ASGI)
    origin = Origin.parse(asgi.URL if is_application else url)
    hosted = asgi.hosted_app(url.removeprefix(ASGI)) if is_application else None
    async with hosted or httpx.AsyncHTTPTransport() as transport:
        recording = RecordingTransport(transport, origin, shelf, fail)
        try:
            yield Portal(recording, asyncio.get_running_loop())
        finally:
            recording.end()


class RecordingTransport(httpx.AsyncBaseTransport):
    """Asks `inner` for what lies below `origin`, whatever host a client names."""

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        origin: Origin,
        shelf: RecordingFolder,
        fail: OnFailure,
    ) -> None:
        self._inner = inner
        self._origin = origin
        self._shelf = shelf
        self._fail = fail
        self._recorded: list[RelayedExchange] = []

    def end(self) -> None:
        """Whatever is still under way has no reader any more."""
        for each in self._recorded:
            each.record_end("client-closed")  # an end that was recorded stands

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        received = _request_of(request, await request.aread())
        log = GuardedRecorder(self._shelf, self._fail)
        recorded = RelayedExchange(log, received, RelayRoute(self._origin, self._shelf))
        self._recorded.append(recorded)
        recorded.record_request()
        try:
            onward = self._upstream_request(received, recorded.target, request)
            response = await self._inner.handle_async_request(onward)
        except httpx.TransportError as err:
            recorded.record_end(ending_of(err), str(err))
            raise
        recorded.record_head(_head_of(response))
        assert isinstance(response.stream, httpx.AsyncByteStream)
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=_RecordedBody(response.stream, recorded),
            extensions=response.extensions,
        )

    def _upstream_request(
        self, received: HttpRequest, target: str, request: httpx.Request
    ) -> httpx.Request:
        origin = self._origin
        kept = without_headers(end_to_end(received.headers), "host", "expect", "content-length")
        url = httpx.URL(scheme="https" if origin.tls else "http", host=origin.host)
        return httpx.Request(
            received.method,
            url.copy_with(port=origin.port, raw_path=target.encode("ascii")),
            headers=[("Host", origin.netloc), *ask_for_readable(kept)],
            content=received.body,
            extensions=request.extensions,
        )


class _RecordedBody(httpx.AsyncByteStream):
    """Pieces, recorded before they are passed on; the end, too."""

    def __init__(self, inner: httpx.AsyncByteStream, recorded: RelayedExchange) -> None:
        self._inner = inner
        self._recorded = recorded

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._inner:
                self._recorded.record_body(data)
                yield data
        except httpx.TransportError as err:
            self._recorded.record_end(ending_of(err), str(err))
            raise
        self._recorded.record_end("eof")

    async def aclose(self) -> None:
        self._recorded.record_end("client-closed")  # as above
        await self._inner.aclose()


def _request_of(request: httpx.Request, body: bytes) -> HttpRequest:
    return HttpRequest(
        method=request.method,
        target=request.url.raw_path.decode("ascii"),
        headers=decode_headers(request.headers.raw),
        body=body,
    )


def _head_of(response: httpx.Response) -> ResponseHead:
    version = str(response.extensions.get("http_version", b"HTTP/1.1"), "ascii", "replace")
    headers = lower_names(decode_headers(response.headers.raw))
    head = Response(response.status_code, version.removeprefix("HTTP/"), headers)
    return ResponseHead(head, response.reason_phrase, chunked=False, length=None)


@asynccontextmanager
async def recording_new_episodes(
    upstream: Origin,
    shelf: RecordingFolder,
    *,
    replayed: ReplayServer,
    session: ReplaySession,
    warn: Callable[[str], None],
) -> AsyncIterator[RecordingProxy]:
    """A recording proxy that asks `replayed` for what it has left, and records the rest.

    `session` counts what it has left as it does itself.
    """
    async with replayed:
        again = RelayRoute(Origin.parse(replayed.url), None)
        live = RelayRoute(upstream, shelf)

        def choose_route(request: HttpRequest) -> RelayRoute:
            key = session.index.request_key(request, request.target)
            return live if session.next_match(key) is None else again

        async with RecordingProxy(upstream, shelf, warn=warn, route=choose_route) as proxy:
            yield proxy
