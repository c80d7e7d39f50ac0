"""What a mock in starlette looks like: `python tests/benchmarks/starlette_mock.py PORT_FILE FILE`.

Streams the file's lines that are not blank as events, one chunk each.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route


def application(chunks: list[bytes]) -> Starlette:
    async def answer(request: Request) -> StreamingResponse:
        await request.json()

        async def stream() -> AsyncIterator[bytes]:
            for chunk in chunks:
                yield chunk

        return StreamingResponse(stream(), media_type="text/event-stream")

    return Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])


class Server(uvicorn.Server):
    """Writes its port down once it listens; it opens the socket itself, so Nagle is off."""

    port_file = Path()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        self.port_file.write_text(str(port), encoding="utf-8")


def main(port_file: str, body: str) -> None:
    chunks = [line + b"\n\n" for line in Path(body).read_bytes().split(b"\n\n") if line]
    server = Server(uvicorn.Config(application(chunks), port=0, log_level="error"))
    server.port_file = Path(port_file)
    asyncio.run(server.serve())


if __name__ == "__main__":
    main(*sys.argv[1:3])
