"""A server that answers as it was recorded, byte by byte and chunk by chunk."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from types import TracebackType
from typing import Self

from conformance.core.errors import HarnessError
from conformance.targets.replay.connection import ReplayConnection
from conformance.targets.replay.matching import ExchangeIndex
from conformance.targets.replay.options import Limits, ReplayOptions
from conformance.targets.replay.routing import MountedRecording, MountTable, url_prefix
from conformance.targets.replay.seen import RequestLog, SeenRequest
from conformance.targets.replay.state import ServerState
from conformance.targets.replay.tape import (
    ExchangeAddress,
    RecordedExchange,
    Source,
    load_recording,
    load_recordings,
)
from conformance.wire.origin import bracketed
from conformance.wire.server import cannot_listen


class ReplayServer:
    """Serves recordings on one port, until it is closed; an async context manager.

    Each recording is reached under its own prefix (`base_url(name)`), all of them without one. A
    request that nothing recorded answers gets 404 with the nearest recorded request; nothing ever
    goes out. `on_exchange` is called in the server's thread when a request has its end.

    Raises CassetteError for what cannot be served. What changes after the start (`mount`,
    `unmount`, `seen`, `unused`) may be used from any thread.
    """

    def __init__(
        self,
        cassettes: Iterable[Source] = (),
        *,
        options: ReplayOptions | None = None,
        on_exchange: Callable[[SeenRequest], None] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.options = options or ReplayOptions()
        self._address = (host, port)
        self._log = RequestLog(self.limits.seen, self.limits.kept, on_exchange)
        self._routes = MountTable()
        self._state = ServerState(self.limits, self._log, self._routes)
        self._taken: Counter[str] = Counter()
        self._naming = threading.Lock()
        self._server: asyncio.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._mount_all(cassettes)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def start(self) -> None:
        """Listens. Raises UsageError if host and port cannot be had."""
        loop = self._loop = asyncio.get_running_loop()
        host, port = self._address
        try:
            made = partial(ReplayConnection, self._state, loop)
            self._server = await loop.create_server(made, host, port)
        except OSError as err:
            raise cannot_listen(host, port, err) from err
        self._address = (host, self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stops; answers under way are broken off, and noted as `server-closed`."""
        if self._server is None:
            return
        self._server.close()
        for connection in tuple(self._state.open):
            connection.close()
        await self._server.wait_closed()
        await self._state.empty.wait()
        self._server = None

    @property
    def port(self) -> int:
        if self._server is None:
            raise HarnessError("the replay server is not running")
        return self._address[1]

    @property
    def url(self) -> str:
        """`http://HOST:PORT`, without a path: every recording."""
        return f"http://{bracketed(self._address[0])}:{self.port}"

    def base_url(self, name: str = "", session: str = "") -> str:
        """The URL that reaches one recording, in a session of its own if one is named.

        The client's paths come below it: clients of OpenAI's APIs want `/v1` appended.
        """
        return self.url + url_prefix(name, session)

    def mount(
        self, cassette: Source, *, name: str = "", options: ReplayOptions | None = None
    ) -> str:
        """Serves one more recording, under its own prefix only; the name it got.

        Without `name` the file's; one that is taken gets a number. Raises CassetteError.
        """
        added = load_recording(cassette, name)
        with self._naming:
            final = added.name
            while final in self._routes:
                self._taken[added.name] += 1
                final = f"{added.name}~{self._taken[added.name] + 1}"
            entries = added.with_name(final).entries
            self._add_mount(final, entries, options or self.options)
        return final

    def unmount(self, name: str) -> None:
        """Serves the recording no more; what was seen stays."""
        self._routes.remove_mount(name)

    @property
    def seen(self) -> tuple[SeenRequest, ...]:
        """What clients did: the latest requests, in the order in which they ended."""
        return self._log.entries

    def seen_by(self, name: str, session: str | None = None) -> tuple[SeenRequest, ...]:
        """What was seen under one recording's prefix, of all its sessions unless one is named."""
        return tuple(
            each for each in self.seen if each.name == name and session in (None, each.session)
        )

    @property
    def connections(self) -> int:
        """How many connections were made."""
        return self._state.connections

    @property
    def requests(self) -> int:
        """How many requests have ended, also those that `seen` holds no more."""
        return self._log.count

    def unused(self, name: str = "", session: str | None = None) -> tuple[ExchangeAddress, ...]:
        """Exchanges that answered nobody; of one recording or session if one is named.

        Without a name: those that neither answered without prefix nor under any.
        """
        mounts = [mount for mount in self._routes.mounts if name in ("", mount.name)]
        known: dict[ExchangeAddress, bool] = {}
        for mount in mounts:
            for key, shelf in mount.all_sessions.items():
                if session in (None, key):
                    left = {entry.address for entry in shelf.unused_entries()}
                    for entry in mount.index.entries:
                        used = entry.address not in left
                        known[entry.address] = known.get(entry.address, False) or used
        return tuple(address for address, used in known.items() if not used)

    async def settled(self) -> None:
        """Waits until no answer is under way: then `seen` holds every request so far."""
        await self._state.idle.wait()

    def _mount_all(self, cassettes: Iterable[Source]) -> None:
        found = load_recordings(cassettes)
        self._add_mount("", [entry for each in found for entry in each.entries], self.options)
        for each in found:
            self._add_mount(each.name, each.entries, self.options)

    def _add_mount(
        self, name: str, entries: Iterable[RecordedExchange], options: ReplayOptions
    ) -> None:
        index = ExchangeIndex(tuple(entries), options)
        self._routes.add_mount(MountedRecording(name, index, self.limits.sessions))
