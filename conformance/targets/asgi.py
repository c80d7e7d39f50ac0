"""An ASGI application in this process as a target, without a port.

Each piece that the application sends arrives as it is sent, which httpx.ASGITransport does not
do: it waits for the whole body. https://asgi.readthedocs.io/en/latest/specs/www.html
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import httpx

from conformance.core.errors import UsageError

Message = MutableMapping[str, Any]
Application = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]

URL: Final = "http://asgi.local"
_PATIENCE: Final = 1.0  # seconds for an application to notice that its client has gone


def load_application(name: str) -> Application:
    """The object that `module:attribute` names. Raises UsageError if there is none."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise UsageError(f"expected MODULE:APP, got {name!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = attrgetter(attribute)(importlib.import_module(module))
    except Exception as err:  # whatever the module does when it is imported
        raise UsageError(f"cannot load {name}: {type(err).__name__}: {err}") from err
    if not callable(found):
        raise UsageError(f"{name} is no ASGI application")
    return found  # type: ignore[no-any-return]  # what it takes shows when it is called


class AsgiTransport(httpx.AsyncBaseTransport):
    """Hands requests to an application and its messages back, one by one."""

    def __init__(self, application: Application, state: Message | None = None) -> None:
        self._application = application
        self._state = state or {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        call = _AsgiCall(
            self._application, _request_scope(request, self._state), await request.aread()
        )
        try:
            head = await call.response_head()
        except BaseException:
            await call.aclose()
            raise
        return httpx.Response(
            head["status"],
            headers=list(head.get("headers", ())),
            stream=call,
            extensions={"http_version": b"HTTP/1.1"},
        )


class _AsgiCall(httpx.AsyncByteStream):
    """One request on its way through an application."""

    def __init__(self, application: Application, scope: Message, body: bytes) -> None:
        # One place: the application waits until its last message was taken.
        self._sent: asyncio.Queue[Message | None] = asyncio.Queue(1)
        self._left = asyncio.Event()
        self._body: bytes | None = body
        self._error: Exception | None = None
        self._task = asyncio.create_task(self._run_application(application, scope))

    async def response_head(self) -> Message:
        message = await self._sent.get()
        if message is None or message["type"] != "http.response.start":
            raise httpx.ReadError(self._failure_or("the application sent no response head"))
        return message

    async def __aiter__(self) -> AsyncIterator[bytes]:
        more = True
        while more:
            message = await self._sent.get()
            if message is None:
                raise httpx.ReadError(self._failure_or("the application stopped inside the body"))
            if message["type"] == "http.response.body":
                if message.get("body"):
                    yield bytes(message["body"])
                more = bool(message.get("more_body"))

    async def aclose(self) -> None:
        """The client goes away; the application hears of it, and is ended if it does not listen."""
        self._left.set()
        with suppress(asyncio.QueueEmpty):
            self._sent.get_nowait()
        await asyncio.wait([self._task], timeout=_PATIENCE)
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    def _failure_or(self, otherwise: str) -> str:
        error = self._error
        return f"the application raised {type(error).__name__}: {error}" if error else otherwise

    async def _run_application(self, application: Application, scope: Message) -> None:
        try:
            await application(scope, self._receive_message, self._send_message)
        except Exception as err:  # noqa: BLE001  # the target's own fault, reported as such
            self._error = err
        if not self._left.is_set():
            await self._sent.put(None)

    async def _receive_message(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send_message(self, message: Message) -> None:
        if self._left.is_set():
            return  # as servers do: what is not read is dropped
        await self._sent.put(message)


def _request_scope(request: httpx.Request, state: Message) -> Message:
    path, _, query = request.url.raw_path.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("127.0.0.1", 0),
        "server": (request.url.host, 80),
        "state": dict(state),
    }


@asynccontextmanager
async def running_lifespan(application: Application) -> AsyncIterator[Message]:
    """Runs an application's start-up before and its shutdown after; gives the state it left.

    One that knows no lifespan is served all the same. Raises UsageError if start-up fails.
    """
    outgoing: asyncio.Queue[Message] = asyncio.Queue()
    incoming: asyncio.Queue[Message] = asyncio.Queue()
    state: Message = {}

    async def lifespan() -> None:
        scope: Message = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": state}
        try:
            await application(scope, incoming.get, outgoing.put)
        except Exception as err:  # noqa: BLE001  # the specification: it is not supported then
            await outgoing.put({"type": "unsupported", "message": str(err)})
        else:
            await outgoing.put({"type": "ended"})

    task = asyncio.create_task(lifespan())
    await incoming.put({"type": "lifespan.startup"})
    answer = await outgoing.get()
    if answer["type"] == "lifespan.startup.failed":
        task.cancel()
        raise UsageError(f"the application does not start: {answer.get('message', '')}")
    try:
        yield state
    finally:
        await incoming.put({"type": "lifespan.shutdown"})
        await asyncio.wait([task], timeout=_PATIENCE)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def hosted_app(name: str) -> AsyncIterator[AsgiTransport]:
    """A transport to the application, between its start-up and its shutdown. Raises UsageError."""
    async with hosted(load_application(name)) as transport:
        yield transport


@asynccontextmanager
async def hosted(application: Application) -> AsyncIterator[AsgiTransport]:
    """A transport to an application, between its start-up and its shutdown. Raises UsageError."""
    async with running_lifespan(application) as state:
        yield AsgiTransport(application, state)
