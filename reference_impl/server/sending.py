"""Answers as ASGI responses that notice at once when the client goes away.

Rule 1: while an answer is made, a task waits for the disconnect; it ends the making, and with it
        the generation. Polling or the next send would notice too late.
Rule 2: one event stays one event, but those that wait together leave in one write.
Rule 3: what goes wrong here is raised, so that the server closes the connection without the end
        of the body: a stream that broke never looks complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any, Final, TypeVar

from starlette.types import Receive, Scope, Send

from .projection import AnswerBody
from .wire import Wire, encoded

EVENT_STREAM: Final = "text/event-stream; charset=utf-8"
JSON: Final = "application/json"
JSON_LINES: Final = "application/x-ndjson"
MESSAGES: Final = "application/vnd.amazon.eventstream"
MOST_WAITING: Final = 1024 * 1024  # bytes of one stream
Result = TypeVar("Result")


class Outbox:
    """Bytes that wait to be sent; a slow client makes who fills it wait in turn."""

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._most = most
        self._waiting: list[bytes] = []
        self._size = 0
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._is_closed = False

    async def put(self, data: bytes) -> None:
        """Add bytes, and wait while there are too many."""
        if not data:
            return
        self._waiting.append(data)
        self._size += len(data)
        self._news.set()
        if self._size > self._most:
            self._room.clear()
            await self._room.wait()

    def close(self) -> None:
        self._is_closed = True
        self._news.set()

    async def take(self) -> bytes:
        """Everything that waits, as soon as there is something; empty at the end."""
        await self._news.wait()
        data = b"".join(self._waiting)
        self._waiting.clear()
        self._size = 0
        self._room.set()
        if not self._is_closed:
            self._news.clear()
        return data


class EventStream:
    """A stream of events, lines or binary messages; `frames` are their bytes."""

    def __init__(
        self, frames: AsyncGenerator[bytes, None], content_type: str = EVENT_STREAM
    ) -> None:
        self._frames = frames
        self._content_type = content_type

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        await send(_head_of(200, {"content-type": self._content_type, "cache-control": "no-cache"}))
        await _unless_gone(receive, self._deliver(send))

    async def _deliver(self, send: Send) -> None:
        outbox = Outbox()
        making = asyncio.create_task(self._fill(outbox))
        try:
            while data := await outbox.take():
                await send({"type": "http.response.body", "body": data, "more_body": True})
            await making
        finally:
            await _end_task(making)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _fill(self, outbox: Outbox) -> None:
        try:
            async with aclosing(self._frames) as frames:
                async for frame in frames:
                    await outbox.put(frame)
        finally:
            outbox.close()


class Body:
    """One JSON body, made of the events that a stream would have sent."""

    def __init__(self, wires: AsyncGenerator[Wire, None], whole: AnswerBody) -> None:
        self._wires = wires
        self._whole = whole

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        if await _unless_gone(receive, self._make()) is None:
            return
        status, payload = self._whole.body()
        body = encoded(payload)
        await send(_head_of(status, {"content-type": JSON, "content-length": str(len(body))}))
        await send({"type": "http.response.body", "body": body})

    async def _make(self) -> AnswerBody:
        async with aclosing(self._wires) as wires:
            async for wire in wires:
                self._whole.add(wire)
        return self._whole


async def _unless_gone(receive: Receive, work: Coroutine[Any, Any, Result]) -> Result | None:
    """The result of the work; None when the client left first, and then the work is over."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_client_departure(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return await working if working.done() else None
    finally:
        await _end_task(leaving)
        await _end_task(working)


async def _client_departure(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _end_task(task: asyncio.Task[Any]) -> None:
    """Cancelled, and waited for, unless it is done."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task})


def _head_of(status: int, headers: dict[str, str]) -> dict[str, Any]:
    lines = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    return {"type": "http.response.start", "status": status, "headers": lines}
