"""Asks an ASGI application in process, and keeps what came as a recorder would."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message

from conformance.core.events import Chunk, Ending

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one request got; every write of the server is a chunk."""

    status: int
    headers: tuple[tuple[str, str], ...]
    chunks: tuple[Chunk, ...]
    end: Ending = "eof"

    @property
    def data(self) -> bytes:
        return b"".join(chunk.data for chunk in self.chunks)

    @property
    def json(self) -> Any:
        return json.loads(self.data)


class Connection:
    """One request on its way; `leave` is the client going away."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._gone = asyncio.Event()
        self.sent: list[Message] = []
        self.first = asyncio.Event()

    def leave(self) -> None:
        self._gone.set()

    async def receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        if message.get("body"):
            self.first.set()
        await asyncio.sleep(0)  # a real server lets others run while it writes

    def answer(self, end: Ending) -> Answer:
        head = self.sent[0]
        headers = tuple((name.decode(), value.decode()) for name, value in head["headers"])
        bodies = (message["body"] for message in self.sent[1:])
        chunks = tuple(Chunk(body, 1.0) for body in bodies if body)
        return Answer(head["status"], headers, chunks, end)


def scope(path: str, headers: Headers = (), method: str = "POST") -> dict[str, Any]:
    lines = [(name.lower().encode(), value.encode()) for name, value in headers]
    path, _, query = path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": lines,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }


async def ask(
    app: ASGIApp, path: str, fields: Mapping[str, Any] | bytes | None = None, headers: Headers = ()
) -> Answer:
    """The answer; an error inside the application is a connection that broke off."""
    body = fields if isinstance(fields, bytes) else json.dumps(fields or {}).encode()
    connection = Connection(body)
    method = "GET" if fields is None else "POST"
    try:
        await app(scope(path, headers, method), connection.receive, connection.send)
    except ConnectionError:
        return connection.answer("reset")
    return connection.answer("eof")


def ask_blocking(app: ASGIApp, path: str, fields: Any = None, headers: Headers = ()) -> Answer:
    """As `ask`, from outside an event loop."""
    return asyncio.run(ask(app, path, fields, headers))
