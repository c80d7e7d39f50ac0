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

from conformance.pytest_plugin.libraries import answered, broken

Result = TypeVar("Result")

_thread = partial(anyio.to_thread.run_sync, abandon_on_cancel=True)


class Portal(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Hands requests to `inner`, which lives in `loop`, and answers back piece by piece."""

    def __init__(self, inner: httpx.AsyncBaseTransport, loop: asyncio.AbstractEventLoop) -> None:
        self._inner = inner
        self._loop = loop

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        with _told_to(request):
            response = _wait(self._inner.handle_async_request(request), self._loop)
        status, headers, extensions = response.status_code, response.headers, response.extensions
        body = _Body(request, response.stream, self._loop)
        made: httpx.Response = answered(request, status, headers.raw, body, extensions)
        return made

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return await _thread(self.handle_request, request)


class _Body:
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
        with _told_to(self._request):
            while (data := _wait(_next(pieces), self._loop)) is not None:
                yield data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = iter(self)
        while (data := await _thread(next, pieces, None)) is not None:
            yield data

    def close(self) -> None:
        if not self._loop.is_closed():  # a client may outlive its test
            _wait(self._inner.aclose(), self._loop)

    async def aclose(self) -> None:
        await _thread(self.close)


@contextmanager
def _told_to(request: httpx.Request) -> Iterator[None]:
    """What goes wrong between here and the server is an error of the client's own library."""
    try:
        yield
    except httpx.TransportError as err:
        raise broken(request, type(err).__name__, str(err)) from err


def _wait(work: Coroutine[Any, Any, Result], loop: asyncio.AbstractEventLoop) -> Result:
    return asyncio.run_coroutine_threadsafe(work, loop).result()


async def _next(pieces: AsyncIterator[bytes]) -> bytes | None:
    return await anext(pieces, None)
