"""Transports for clients in this process, without a port: from recordings, or from a thread.

Clients of httpx, synchronous or not, take them as they are; `requests` and aiohttp by a socket.

Matching, cuts, times and endings are those of the replay server. What is lost is what only a socket
has: transfer chunks, and resets seen by the operating system.
A server or an application in a separate thread has one loop from its start to its end, whatever
loops a test runs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
import anyio.to_thread
import httpx

from conformance.pytest_plugin import local_socket
from conformance.pytest_plugin.responses import client_error, library_of, make_response
from conformance.targets.replay import ExchangeAddress, ReplayOptions
from conformance.targets.replay.matching import ExchangeIndex, ReplaySession, RequestKey
from conformance.targets.replay.miss import explain_miss
from conformance.targets.replay.script import AnswerEnd, AnswerScript
from conformance.targets.replay.tape import load_exchanges
from conformance.wire.requests import HttpRequest
from conformance.wire.server import running_in_thread

Result = TypeVar("Result")


class StandInTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport of httpx that other clients can use, too, until `end_sockets`."""

    def __init__(self) -> None:
        self._sockets = ExitStack()
        self._path: Path | None = None

    def requests_adapter(self) -> Any:
        """For `requests`: `session.mount("http://", conformance_transport.requests_adapter())`."""
        return local_socket.requests_adapter(self._socket_path())

    def aiohttp_connector(self) -> Any:
        """For aiohttp: `ClientSession(connector=conformance_transport.aiohttp_connector())`."""
        return local_socket.aiohttp_connector(self._socket_path())

    def end_sockets(self) -> None:
        """Other clients than those of httpx reach nothing any more."""
        self._path = None
        self._sockets.close()

    def _socket_path(self) -> Path:
        if self._path is None:
            serving = running_in_thread(local_socket.serving_socket(self))
            self._path = self._sockets.enter_context(serving)
        return self._path


class ReplayTransport(StandInTransport):
    """Answers as recorded, each exchange once; `misses` say what nothing answered.

    With `onward` that goes there instead. Raises CassetteError for what cannot be replayed.
    """

    def __init__(
        self,
        sources: tuple[Path, ...],
        options: ReplayOptions,
        onward: Portal | None = None,
    ) -> None:
        super().__init__()
        self._session = ReplaySession(ExchangeIndex(load_exchanges(sources), options))
        self._onward = onward
        self.misses: list[str] = []

    def unused(self) -> tuple[ExchangeAddress, ...]:
        return tuple(entry.address for entry in self._session.unused_entries())

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        wanted = self._wanted_request(request, request.read())
        match = self._session.next_match(wanted)
        if match is not None:
            return _replayed_response(request, match.answer)
        if self._onward is not None:
            return self._onward.handle_request(request)
        return self._miss_response(request, wanted)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        wanted = self._wanted_request(request, await request.aread())
        match = self._session.next_match(wanted)
        if match is not None:
            return _replayed_response(request, match.answer)
        if self._onward is not None:
            return await self._onward.handle_async_request(request)
        return self._miss_response(request, wanted)

    def _wanted_request(self, request: httpx.Request, body: bytes) -> RequestKey:
        headers = tuple(request.headers.items())
        target = request.url.raw_path.decode("ascii", "replace")
        wanted = HttpRequest(request.method, target, headers, body)
        return self._session.index.request_key(wanted, target)

    def _miss_response(self, request: httpx.Request, wanted: RequestKey) -> httpx.Response:
        miss = explain_miss(wanted, self._session.index)
        self.misses.append(miss.why)
        made: httpx.Response = library_of(request).Response(
            404, headers={"content-type": "application/json"}, content=miss.json_body()
        )
        return made


def _replayed_response(request: httpx.Request, script: AnswerScript) -> httpx.Response:
    if not script.has_head:
        raise client_error(request, "RemoteProtocolError", "the connection broke before any answer")
    body = _ReplayedBody(request, script)
    made: httpx.Response = make_response(request, script.status, list(script.headers), body)
    return made


class _ReplayedBody:
    """The pieces of one answer, and its end."""

    def __init__(self, request: httpx.Request, script: AnswerScript) -> None:
        self._request = request
        self._script = script

    def __iter__(self) -> Iterator[bytes]:
        for ms, data in self._script.timed_chunks():
            if ms:
                time.sleep(ms / 1000)
            yield data
        self._raise_ending()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for ms, data in self._script.timed_chunks():
            if ms:
                await anyio.sleep(ms / 1000)
            yield data
        self._raise_ending()

    def _raise_ending(self) -> None:
        if end := _ENDS.get(self._script.end):
            raise client_error(self._request, *end)

    def close(self) -> None:
        """Nothing is held."""

    async def aclose(self) -> None:
        """As `close`."""


_ENDS: Final[Mapping[AnswerEnd, tuple[str, str]]] = {
    "fin": ("RemoteProtocolError", "the answer was cut off before its end"),
    "rst": ("ReadError", "the connection was reset"),
    "stall": ("ReadTimeout", "nothing more came"),
}
_in_thread = partial(anyio.to_thread.run_sync, abandon_on_cancel=True)


class Portal(StandInTransport):
    """Hands requests to `inner`, which lives in `loop`, and answers back piece by piece."""

    def __init__(self, inner: httpx.AsyncBaseTransport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._inner = inner
        self._loop = loop

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        with _errors_of_client(request):
            response = _wait_for(self._inner.handle_async_request(request), self._loop)
        status, headers, extensions = response.status_code, response.headers, response.extensions
        body = _PortalBody(request, response.stream, self._loop)
        made: httpx.Response = make_response(request, status, headers.raw, body, extensions)
        return made

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return await _in_thread(self.handle_request, request)


class _PortalBody:
    """The pieces of a body that comes in another loop."""

    def __init__(
        self, request: httpx.Request, inner: object, loop: asyncio.AbstractEventLoop
    ) -> None:
        assert isinstance(inner, httpx.AsyncByteStream)
        self._request = request
        self._inner = inner
        self._loop = loop

    def __iter__(self) -> Iterator[bytes]:
        pieces = aiter(self._inner)
        with _errors_of_client(self._request):
            while (data := _wait_for(_next_piece(pieces), self._loop)) is not None:
                yield data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = iter(self)
        while (data := await _in_thread(next, pieces, None)) is not None:
            yield data

    def close(self) -> None:
        if not self._loop.is_closed():  # a client may outlive its test
            _wait_for(self._inner.aclose(), self._loop)

    async def aclose(self) -> None:
        await _in_thread(self.close)


@contextmanager
def _errors_of_client(request: httpx.Request) -> Iterator[None]:
    """Raise failures between here and the server as errors of the client's own library."""
    try:
        yield
    except httpx.TransportError as err:
        raise client_error(request, type(err).__name__, str(err)) from err


def _wait_for(work: Coroutine[Any, Any, Result], loop: asyncio.AbstractEventLoop) -> Result:
    return asyncio.run_coroutine_threadsafe(work, loop).result()


async def _next_piece(pieces: AsyncIterator[bytes]) -> bytes | None:
    return await anext(pieces, None)


Transport = ReplayTransport | Portal
"""The transports that replace a model inside the process."""
