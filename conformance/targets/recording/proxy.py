"""A proxy that records: the client gets each chunk as it arrives, and so does the disk.

Rule 1: the client sees what it would have seen directly: bytes, cuts, and how it ended (a reset is
passed on as a reset, an early close as one). Only headers of one connection are changed, and
`accept-encoding` is narrowed to what can be recorded decoded.
Rule 2: recording that fails never harms the client; it is counted in `failures`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from conformance.core.errors import ConformanceError
from conformance.targets.recording.folder import RecordingFolder
from conformance.targets.recording.relay import (
    ChooseRoute,
    ProxyTimeouts,
    RecordedConnection,
    RelayRoute,
)
from conformance.wire.origin import Origin, bracketed
from conformance.wire.server import ServerConnection, listening

_MOST_CLIENTS: Final = 1024


class RecordingProxy:
    """Listens, passes on, records; an asynchronous context manager. `url` is known inside it.

    `route` says of each request where it goes, and what records it; default: to `upstream`, in
    `folder`. Raises UsageError where it cannot listen.
    """

    def __init__(
        self,
        upstream: Origin,
        folder: RecordingFolder,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        timeouts: ProxyTimeouts | None = None,
        warn: Callable[[str], None] | None = None,
        route: ChooseRoute | None = None,
    ) -> None:
        self.failures = 0
        self.url = ""
        self._folder = folder
        self._route = route or (lambda _: RelayRoute(upstream, folder))
        self._host, self._port = host, port
        self._timeouts = timeouts or ProxyTimeouts()
        self._warn = warn or (lambda _: None)
        self._clients = 0

    async def __aenter__(self) -> Self:
        self._listener = listening(self._host, self._port, self._accept)
        port = await self._listener.__aenter__()
        self.url = f"http://{bracketed(self._host)}:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._listener.__aexit__(kind, error, trace)
        self._folder.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._clients >= _MOST_CLIENTS:
            self._warn(f"more than {_MOST_CLIENTS} connections at once: one was refused")
            return
        self._clients += 1
        client = ServerConnection(reader, writer)
        try:
            await RecordedConnection(client, self._route, self._timeouts, self._fail).serve_client()
        except Exception as err:  # noqa: BLE001  # rule 2
            self._fail(err)
        finally:
            self._clients -= 1

    def _fail(self, error: BaseException) -> None:
        self.failures += 1
        text = str(error) if isinstance(error, ConformanceError) else f"{error!r}"
        self._warn(f"not recorded: {text}")
