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

from conformance.core.errors import ConformanceError, UsageError
from conformance.targets.recording.client_side import ClientSide
from conformance.targets.recording.shelf import Shelf
from conformance.targets.recording.upstream import Origin
from conformance.targets.recording.visit import Patience, Route, Visit, Way

_BACKLOG: Final = 256
_MOST_CLIENTS: Final = 1024


class RecordingProxy:
    """Listens, passes on, records; an asynchronous context manager. `url` is known inside it.

    `route` says of each request where it goes, and what records it; default: to `upstream`, in
    `shelf`. Raises UsageError where it cannot listen.
    """

    def __init__(
        self,
        upstream: Origin,
        shelf: Shelf,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        patience: Patience | None = None,
        warn: Callable[[str], None] | None = None,
        route: Route | None = None,
    ) -> None:
        self.failures = 0
        self.url = ""
        self._shelf = shelf
        self._route = route or (lambda _: Way(upstream, shelf))
        self._host, self._port = host, port
        self._patience = patience or Patience()
        self._warn = warn or (lambda _: None)
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        try:
            self._server = await asyncio.start_server(
                self._accept, self._host, self._port, backlog=_BACKLOG
            )
        except OSError as err:
            reason = (err.strerror or str(err)).lower()
            raise UsageError(f"cannot listen on {self._host}:{self._port}: {reason}") from err
        port = self._server.sockets[0].getsockname()[1]
        name = f"[{self._host}]" if ":" in self._host else self._host
        self.url = f"http://{name}:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._clients:
            task.cancel()
        if self._clients:
            await asyncio.wait(self._clients)
        await self._server.wait_closed()
        self._shelf.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._clients) >= _MOST_CLIENTS:
            self._warn(f"more than {_MOST_CLIENTS} connections at once: one was refused")
            writer.close()
            return
        client = ClientSide(reader, writer)
        visit = Visit(client, self._route, self._patience, self._fail)
        task = asyncio.create_task(visit.serve())
        self._clients.add(task)
        task.add_done_callback(self._left)
        # A task that is cancelled before its first step closes nothing itself.
        task.add_done_callback(lambda _: writer.close())

    def _left(self, task: asyncio.Task[None]) -> None:
        self._clients.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self.failures += 1
        text = str(error) if isinstance(error, ConformanceError) else f"{error!r}"
        self._warn(f"not recorded: {text}")
