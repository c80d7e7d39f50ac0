"""A transport for clients that are not built on httpx: by a socket of this machine, without a port.

`requests` and aiohttp speak HTTP to the socket as to any server; what they ask goes through the
transport. A reset is not seen there: it is an early end.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import httpx

from conformance.core.chunked import ChunkPart
from conformance.wire.requests import HttpRequest, RequestRejected
from conformance.wire.server import PeerGoneError, ServerConnection

_OWN: Final = frozenset({"content-length", "transfer-encoding", "connection"})
_NAME: Final = "model"  # what a client takes for its server's name does not matter


@asynccontextmanager
async def serving_socket(transport: httpx.AsyncBaseTransport) -> AsyncIterator[Path]:
    """Serves a socket while the block runs; its path."""
    folder = Path(tempfile.mkdtemp(prefix="conformance-"))
    path = folder / "model.sock"
    connections: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(_serve_client(ServerConnection(reader, writer), transport))
        connections.add(task)
        task.add_done_callback(connections.discard)

    server = await asyncio.start_unix_server(connected, path)
    try:
        yield path
    finally:
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        shutil.rmtree(folder, ignore_errors=True)


async def _serve_client(client: ServerConnection, transport: httpx.AsyncBaseTransport) -> None:
    try:
        while (request := await client.next_request()) is not None:
            if not await _forward_request(client, request, transport):
                break
    except RequestRejected as refused:
        with suppress(PeerGoneError):
            await client.refuse(refused.status, str(refused).encode())
    except (PeerGoneError, httpx.TransportError):
        pass
    finally:
        await client.close()


async def _forward_request(
    client: ServerConnection, request: HttpRequest, transport: httpx.AsyncBaseTransport
) -> bool:
    """Whether the connection can serve another request. Raises TransportError for a broken one."""
    forwarded = httpx.Request(
        request.method,
        f"http://{_NAME}{request.target}",
        headers=list(request.headers),
        content=request.body,
    )
    answer = await transport.handle_async_request(forwarded)
    headers = tuple((k, v) for k, v in answer.headers.items() if k.lower() not in _OWN)
    stays = client.start_response(request, answer.status_code, headers)
    assert isinstance(answer.stream, httpx.AsyncByteStream)
    try:
        async for data in answer.stream:
            if data:
                await client.send_parts([ChunkPart(data, len(data), whole=True)])
    except httpx.ReadTimeout:
        await asyncio.Event().wait()  # a stall: silent until the client leaves, or the test ends
    finally:
        await answer.stream.aclose()
    await client.end_response()
    return stays


def requests_adapter(path: Path) -> Any:
    """An adapter of `requests` that connects to the socket: `session.mount(url, adapter)`."""
    from requests.adapters import HTTPAdapter  # noqa: PLC0415  # who asks for it has it
    from urllib3.connection import HTTPConnection  # noqa: PLC0415
    from urllib3.connectionpool import HTTPConnectionPool  # noqa: PLC0415

    class SocketConnection(HTTPConnection):
        def connect(self) -> None:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.settimeout(self.timeout)
            self.sock.connect(str(path))

    class SocketPool(HTTPConnectionPool):
        ConnectionCls = SocketConnection

    class SocketAdapter(HTTPAdapter):
        pool: HTTPConnectionPool

        def get_connection_with_tls_context(self, *_: Any, **__: Any) -> HTTPConnectionPool:
            return self.pool

        def get_connection(self, *_: Any) -> HTTPConnectionPool:  # before requests 2.32
            return self.pool

        def close(self) -> None:
            self.pool.close()
            super().close()

    adapter = SocketAdapter()
    adapter.pool = SocketPool(_NAME)
    return adapter


def aiohttp_connector(path: Path) -> Any:
    """A connector of aiohttp to the socket; to be made in the loop that uses it."""
    from aiohttp import UnixConnector  # noqa: PLC0415  # who asks for it has it

    return UnixConnector(str(path))
