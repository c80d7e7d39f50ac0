"""An application in this process is asked without a port, and streams as it would over one."""

# ruff: noqa: ARG001  # the signature is ASGI's
from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import httpx
import pytest

from conformance.core.errors import UsageError
from conformance.core.events import Request
from conformance.targets import asgi
from conformance.targets.server import FetchedAnswer, LiveServer, NoAnswerError
from conformance.wire.faults import ExchangeLimits

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

HEAD = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"text/event-stream")],
}
ASKED = Request(path="/chat/completions", json={"stream": True, "n": 1})


def part(data: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": more}


def fetched(application: asgi.Application, limits: ExchangeLimits | None = None) -> FetchedAnswer:
    async def go() -> FetchedAnswer:
        transport = asgi.AsgiTransport(application)
        async with LiveServer(asgi.URL, limits=limits, transport=transport) as server:
            return await server.fetch(ASKED)

    return asyncio.run(go())


async def test_pieces_arrive_as_they_are_sent() -> None:
    taken: list[str] = []

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        await send(HEAD)
        for number in range(3):
            await send(part(f"data: {number}\n\n".encode()))
            taken.append(f"sent {number}")
        await send(part(b"", more=False))

    transport = asgi.AsgiTransport(application)
    async with (
        httpx.AsyncClient(transport=transport) as client,
        client.stream("POST", asgi.URL, json={}) as response,
    ):
        async for piece in response.aiter_raw():
            taken.append(piece.decode().strip())  # noqa: PERF401  # the order is what counts
    assert taken.index("data: 0") < taken.index("sent 2")


def test_the_request_reaches_the_application() -> None:
    seen: list[Any] = []

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        seen.extend([scope["method"], scope["path"], (await receive())["body"]])
        await send(HEAD)
        await send(part(b"data: 1\n\n", more=False))

    assert fetched(application).exchange.end == "eof"
    assert seen[:2] == ["POST", "/v1/chat/completions"]
    assert b'"stream": true' in seen[2]


def test_an_error_inside_the_body_resets_the_stream() -> None:
    async def application(scope: Message, receive: Receive, send: Send) -> None:
        await send(HEAD)
        await send(part(b"data: 1\n\n"))
        raise ValueError("out of memory")

    found = fetched(application)
    assert found.exchange.end == "reset"
    assert "out of memory" in found.fault
    assert found.exchange.chunks[0].data == b"data: 1\n\n"


def test_an_error_before_the_head_is_no_answer() -> None:
    async def application(scope: Message, receive: Receive, send: Send) -> None:
        raise KeyError("model")

    with pytest.raises(NoAnswerError, match="KeyError"):
        fetched(application)


def test_an_application_that_hangs_is_reported_that_its_client_left() -> None:
    lines: list[str] = []

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        await receive()
        await send(HEAD)
        await send(part(b"data: 1\n\n"))
        lines.append((await receive())["type"])

    assert fetched(application, ExchangeLimits(idle=0.1)).exchange.end == "idle-timeout"
    assert lines == ["http.disconnect"]


def test_an_endless_application_is_ended() -> None:
    async def application(scope: Message, receive: Receive, send: Send) -> None:
        await send(HEAD)
        while True:
            await send(part(b"x" * 1000))
            await asyncio.sleep(0)

    found = fetched(application, ExchangeLimits(max_bytes=50_000))
    assert found.exchange.end == "client-closed"


async def test_startup_comes_before_and_shutdown_after() -> None:
    seen: list[str] = []

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        assert scope["type"] == "lifespan"
        for event in ("startup", "shutdown"):
            seen.append((await receive())["type"])
            scope["state"]["ready"] = True
            await send({"type": f"lifespan.{event}.complete"})

    async with asgi.running_lifespan(application) as state:
        seen.append(str(state["ready"]))
    assert seen == ["lifespan.startup", "True", "lifespan.shutdown"]


async def test_an_application_without_lifespan_is_served() -> None:
    async def application(scope: Message, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"

    async with asgi.running_lifespan(application):
        pass


async def test_a_failed_startup_is_reported() -> None:
    async def application(scope: Message, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no weights"})

    with pytest.raises(UsageError, match="no weights"):
        async with asgi.running_lifespan(application):
            pass


@pytest.mark.parametrize(
    "name", ["json", "json:", ":app", "no_such_module:app", "json:nothing", "json:__doc__"]
)
def test_what_is_no_application_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        asgi.load_application(name)


def test_an_application_is_found_by_its_name() -> None:
    assert asgi.load_application("json:dumps") is __import__("json").dumps
