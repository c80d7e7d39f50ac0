"""An asynchronous transport in a thread of its own, for httpx clients of either kind.

So a server or an application has one loop from its start to its end, whatever loops a test runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import anyio.to_thread
import httpx

from conformance.pytest_plugin.responses import client_error, make_response

Result = TypeVar("Result")

_in_thread = partial(anyio.to_thread.run_sync, abandon_on_cancel=True)


class Portal(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Hands requests to `inner`, which lives in `loop`, and answers back piece by piece."""

    def __init__(self, inner: httpx.AsyncBaseTransport, loop: asyncio.AbstractEventLoop) -> None:
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
    """What goes wrong between here and the server is an error of the client's own library."""
    try:
        yield
    except httpx.TransportError as err:
        raise client_error(request, type(err).__name__, str(err)) from err


def _wait_for(work: Coroutine[Any, Any, Result], loop: asyncio.AbstractEventLoop) -> Result:
    return asyncio.run_coroutine_threadsafe(work, loop).result()


async def _next_piece(pieces: AsyncIterator[bytes]) -> bytes | None:
    return await anext(pieces, None)
