"""A server that answers as it was recorded, byte by byte and chunk by chunk."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Self

from conformance.core.errors import HarnessError
from conformance.targets.replay.connection import ReplayConnection
from conformance.targets.replay.matching import ExchangeIndex
from conformance.targets.replay.options import ReplayLimits, ReplayOptions
from conformance.targets.replay.routing import MountedRecordings, url_prefix
from conformance.targets.replay.state import ServedRequest, ServerState
from conformance.targets.replay.tape import (
    ExchangeAddress,
    RecordedExchange,
    ReplaySource,
    load_recording,
    load_recordings,
    source_name,
)
from conformance.wire.hosts import AllowedHosts
from conformance.wire.origin import bracketed
from conformance.wire.server import cannot_listen, running_in_thread


class ReplayServer:
    """Serves recordings on one port, until it is closed; an async context manager.

    Each recording is reached under its own prefix (`base_url(name)`), all of them without one. A
    request that nothing recorded answers gets 404 with the nearest recorded request; nothing ever
    goes out. `on_exchange` is called in the server's thread when a request has its end. `hosts` are
    the names that a request may be for; default: any.

    Raises CassetteError for what cannot be served. What changes after the start (`mount`,
    `unmount`, `seen`, `unused`) may be used from any thread.
    """

    def __init__(
        self,
        cassettes: Iterable[ReplaySource] = (),
        *,
        options: ReplayOptions | None = None,
        on_exchange: Callable[[ServedRequest], None] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        limits: ReplayLimits | None = None,
        hosts: AllowedHosts | None = None,
    ) -> None:
        self.limits = limits or ReplayLimits()
        self.options = options or ReplayOptions()
        self._address = (host, port)
        self._state = ServerState(self.limits, on_exchange, hosts)
        self._routes = self._state.routes
        self._taken: Counter[str] = Counter()
        self._naming = threading.Lock()
        self._server: asyncio.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        found = load_recordings(cassettes)
        for name, entries in {"": chain.from_iterable(found.values()), **found}.items():
            self._add_mount(name, entries, self.options)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
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
        """The URL that reaches one recording, in a separate session if one is named.

        The client's paths come below it: clients of OpenAI's APIs want `/v1` appended.
        """
        return self.url + url_prefix(name, session)

    def mount(
        self, cassette: ReplaySource, *, name: str = "", options: ReplayOptions | None = None
    ) -> str:
        """Serves one more recording, under its own prefix only; the name it got.

        Without `name` the file's; one that is taken gets a number. Raises CassetteError.
        """
        wanted = name or source_name(cassette)
        with self._naming:
            final = wanted
            while final in self._routes:
                self._taken[wanted] += 1
                final = f"{wanted}~{self._taken[wanted] + 1}"
            self._add_mount(final, load_recording(cassette, final), options or self.options)
        return final

    def unmount(self, name: str) -> None:
        """Serves the recording no more; what was seen stays."""
        self._routes.pop(name, None)

    @property
    def seen(self) -> tuple[ServedRequest, ...]:
        """The latest requests of clients, in the order in which they ended."""
        return tuple(self._state.log)

    def seen_by(self, name: str, session: str | None = None) -> tuple[ServedRequest, ...]:
        """Return the requests of one recording, of all its sessions unless one is named."""
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
        return self._state.requests

    def unused(self, name: str = "", session: str | None = None) -> tuple[ExchangeAddress, ...]:
        """Exchanges that answered no request; of one recording or session if one is named.

        Without a name: those that neither answered without prefix nor under any.
        """
        known: dict[ExchangeAddress, bool] = {}
        for mount_name, mount in tuple(self._routes.items()):
            for session_name, replay in tuple(mount.sessions.items()):
                if name in ("", mount_name) and session in (None, session_name):
                    left = {entry.address for entry in replay.unused_entries()}
                    for address in (entry.address for entry in mount.index.entries):
                        known[address] = known.get(address, False) or address not in left
        return tuple(address for address, used in known.items() if not used)

    async def settled(self) -> None:
        """Waits until no answer is under way: then `seen` holds every request so far."""
        await self._state.idle.wait()

    def _add_mount(
        self, name: str, entries: Iterable[RecordedExchange], options: ReplayOptions
    ) -> None:
        index = ExchangeIndex(tuple(entries), options)
        self._routes[name] = MountedRecordings(index, self.limits.sessions)


class ThreadedServer(ReplayServer):
    """A replay server that another thread runs."""

    def settle(self, timeout_s: float = 5.0) -> None:
        """Waits until no answer is under way. Raises TimeoutError after `timeout_s`."""
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(self.settled(), self._loop).result(timeout_s)


@contextmanager
def serving(
    cassettes: Iterable[ReplaySource] = (),
    *,
    options: ReplayOptions | None = None,
    on_exchange: Callable[[ServedRequest], None] | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    limits: ReplayLimits | None = None,
) -> Iterator[ThreadedServer]:
    """A ReplayServer that runs while the block does, for callers that do not await."""
    server = ThreadedServer(
        cassettes, options=options, on_exchange=on_exchange, host=host, port=port, limits=limits
    )
    with running_in_thread(server):
        yield server
