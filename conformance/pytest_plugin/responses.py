"""Responses of httpx and httpx2: read as exchanges, and made for a client.

A response that is still open is read here, chunk by chunk and with a clock. One that was read
before has neither: its body is one chunk.
httpx and httpx2 are one interface under two names; official SDKs have moved to httpx2, and a client
takes responses, streams and errors of its own library only. Neither is imported here: whoever made
a request or a response has done that.
vcrpy between a client and everything else keeps one body per answer, so where a stream was cut into
chunks, and when each came, is lost.
"""

from __future__ import annotations

import http.client
import sys
from collections.abc import Mapping
from functools import cache
from time import perf_counter
from types import ModuleType
from typing import Any, Final

from conformance.core.errors import UsageError
from conformance.core.events import Chunk, Ending, Exchange, Request, Response
from conformance.wire.requests import with_body

NAMES: Final = ("httpx", "httpx2")
MOST_BYTES: Final = 64 * 1024 * 1024
_OF_THE_CODING: Final = frozenset({"content-encoding", "content-length"})


def is_response(source: object) -> bool:
    """Whether this is a response of httpx, or of a library with the same interface."""
    return all(hasattr(source, name) for name in ("status_code", "headers", "iter_bytes"))


def exchange_of(response: Any) -> Exchange:
    """The exchange; reads an open response to its end, or to `MOST_BYTES`. Raises UsageError."""
    if not is_response(response):
        kind = type(response).__name__
        hint = "of another client, give the bytes of the body"
        raise UsageError(f"expected an httpx response, a path or bytes, got {kind}", hint=hint)
    if response.is_stream_consumed or response.is_closed:
        return _build_exchange(response, (Chunk(_read_content(response)),), "eof")
    if not hasattr(response.stream, "__iter__"):
        hint = "await conformance_trace.aread(response), or response.aread() first"
        raise UsageError("the response is asynchronous and was not read", hint=hint)
    read = _ChunkClock()
    try:
        for data in response.iter_bytes():
            if not read.add(data):
                response.close()
                break
    except _transport_errors() as err:
        read.end = ending_of(err)
    return _build_exchange(response, tuple(read.chunks), read.end)


async def aexchange_of(response: Any) -> Exchange:
    """As `exchange_of`, for a response of an asynchronous client."""
    if not is_response(response) or response.is_stream_consumed or response.is_closed:
        return exchange_of(response)
    read = _ChunkClock()
    try:
        async for data in response.aiter_bytes():
            if not read.add(data):
                await response.aclose()
                break
    except _transport_errors() as err:
        read.end = ending_of(err)
    return _build_exchange(response, tuple(read.chunks), read.end)


class _ChunkClock:
    """Chunks as they come, with the milliseconds between them."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self.end: Ending = "eof"
        self._left = MOST_BYTES
        self._last = perf_counter()

    def add(self, data: bytes) -> bool:
        """Whether more may come."""
        now = perf_counter()
        self.chunks.append(Chunk(data[: self._left], round((now - self._last) * 1000, 3)))
        self._last = now
        self._left -= len(data)
        if self._left < 0:
            self.end = "client-closed"
        return self._left >= 0


def _read_content(response: Any) -> bytes:
    try:
        return bytes(response.content)
    except _unread_errors() as err:
        hint = "conformance_trace reads it itself: give it the open response"
        raise UsageError(
            "the response was streamed away, nothing is left of it", hint=hint
        ) from err


def _build_exchange(response: Any, chunks: tuple[Chunk, ...], end: Ending) -> Exchange:
    coding = response.headers.get("content-encoding")
    headers = [(k.lower(), v) for k, v in response.headers.items()]
    if coding:
        headers = [pair for pair in headers if pair[0] not in _OF_THE_CODING]
        headers.append(("x-decoded-from", coding))
    http = str(response.extensions.get("http_version", b"HTTP/1.1"), "ascii", "replace")
    head = Response(response.status_code, http.removeprefix("HTTP/"), tuple(headers))
    kept = tuple(chunk for chunk in chunks if chunk.data)
    return Exchange(request=_request_of(response), response=head, chunks=kept, end=end)


def _request_of(response: Any) -> Request | None:
    try:
        request = response.request
        body = bytes(request.content)
    except _unread_errors():  # none is known, or its body was a stream
        return None
    path = request.url.raw_path.decode("ascii", "replace")
    headers = tuple((k.lower(), v) for k, v in request.headers.items())
    return with_body(Request(request.method, path, headers), body)


def ending_of(error: Exception) -> Ending:
    """How a body ended that httpx could not read to its end."""
    name = type(error).__name__
    if name == "RemoteProtocolError":
        return "protocol-error"
    return "idle-timeout" if "Timeout" in name else "reset"


def _transport_errors() -> tuple[type[Exception], ...]:
    return _httpx_errors("TransportError")


def _unread_errors() -> tuple[type[Exception], ...]:
    return (RuntimeError, *_httpx_errors("StreamError"))


def _httpx_errors(name: str) -> tuple[type[Exception], ...]:
    # Whoever has a response of httpx has imported it; no other test should pay for it.
    modules = (sys.modules.get(each) for each in NAMES)
    return tuple(getattr(module, name) for module in modules if hasattr(module, name))


def library_of(request: Any) -> ModuleType:
    roots = (kind.__module__.partition(".")[0] for kind in type(request).__mro__)
    return sys.modules[next(root for root in roots if root in NAMES)]


def make_response(
    request: Any,
    status: int,
    headers: Any,
    body: object,
    extensions: Mapping[str, Any] | None = None,
) -> Any:
    """A response to a request. `body` gives its pieces, to both kinds of iteration."""
    library = library_of(request)
    stream = _body_class(library)(body)
    return library.Response(status, headers=headers, stream=stream, extensions=extensions)


def client_error(request: Any, error: str, why: str) -> Exception:
    """The error of that name that the client of a request knows."""
    made = getattr(library_of(request), error)(why)
    assert isinstance(made, Exception)
    return made


@cache
def _body_class(library: ModuleType) -> Any:
    class BodyStream(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc,name-defined]  # known when it runs
        def __init__(self, body: Any) -> None:
            self._body = body

        def __iter__(self) -> Any:
            return iter(self._body)

        def __aiter__(self) -> Any:
            return aiter(self._body)

        def close(self) -> None:
            self._body.close()

        async def aclose(self) -> None:
            await self._body.aclose()

    return BodyStream


FLATTENED: Final = (
    "vcrpy is active in this test: it joins the chunks of a stream and drops their times, so what"
    " came through it is judged as text only (rules about timing and cuts are untestable);"
    " conformance_server records streams as they are"
)
BETWEEN: Final = (
    "vcrpy is active in this test: what goes to conformance_server, or is recorded, goes through"
    " it, which joins the chunks of streams, or refuses them; take the marker off, or set"
    " ignore_localhost"
)


class FlattenedWarning(UserWarning):
    """Chunks and times of streams are lost on their way."""


def is_vcr_active() -> bool:
    """Whether a cassette of vcrpy is in use: it puts its own class into http.client."""
    if "vcr" not in sys.modules:
        return False
    return http.client.HTTPConnection.__module__.partition(".")[0] == "vcr"
