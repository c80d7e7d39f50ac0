"""`new_episodes`: what was recorded is replayed, and only what was not goes on to the server.

Both ways lead through the recording proxy's own parts, so the client sees the same cuts and endings
as from either alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from conformance.targets.recording import Origin, RecordingProxy, Shelf
from conformance.targets.recording.client_side import Asked, ClientSide
from conformance.targets.recording.visit import Fail, Patience, Visit
from conformance.targets.replay import ReplayOptions, ReplayServer, matching, reading
from conformance.targets.replay.tape import tapes


class Known:
    """What the replay server has left to answer, counted as it counts."""

    def __init__(self, sources: tuple[Path, ...], options: ReplayOptions) -> None:
        entries = [entry for each in tapes(sources) for entry in each.entries]
        self._index = matching.Index(entries, options)
        self._shelf = matching.Shelf(self._index)

    def takes(self, asked: Asked) -> bool:
        """Whether the replay server answers this; its turn is taken then."""
        headers = tuple((name.lower(), value) for name, value in asked.headers)
        request = reading.Asked(
            asked.method, asked.target, headers, asked.body, http11=True, keeps_alive=True
        )
        return self._shelf.take(self._index.wanted(request, asked.target)) is not None


class Episodes(RecordingProxy):
    """A recording proxy that asks `replayed` first. What passes there is recorded in `scrap`."""

    def __init__(
        self,
        upstream: Origin,
        shelf: Shelf,
        *,
        replayed: ReplayServer,
        known: Known,
        scrap: Shelf,
        warn: Callable[[str], None],
    ) -> None:
        super().__init__(upstream, shelf, warn=warn)
        self._replayed = replayed
        self._known = known
        self._scrap = scrap

    async def __aenter__(self) -> Self:
        await self._replayed.start()
        return await super().__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await super().__aexit__(kind, error, trace)
        self._scrap.close()
        await self._replayed.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = ClientSide(reader, writer)
        origin = Origin.parse(self._replayed.url)
        parts = (self._patience, self._fail)
        again = Visit(client, origin, self._scrap, *parts)
        live = (client, self._upstream, self._shelf, *parts)
        visit = _Episode(*live, again=again, known=self._known)
        task = asyncio.create_task(visit.serve())
        self._clients.add(task)
        task.add_done_callback(self._left)
        task.add_done_callback(lambda _: writer.close())


class _Episode(Visit):
    """One connection of a client, whose requests go one way or the other."""

    def __init__(
        self,
        client: ClientSide,
        origin: Origin,
        shelf: Shelf,
        patience: Patience,
        fail: Fail,
        *,
        again: Visit,
        known: Known,
    ) -> None:
        super().__init__(client, origin, shelf, patience, fail)
        self._again = again
        self._known = known

    async def _exchange(self, asked: Asked) -> bool:
        if self._known.takes(asked):
            return await self._again._exchange(asked)  # noqa: SLF001  # a visit like this one
        return await super()._exchange(asked)

    def _drop(self) -> None:
        super()._drop()
        self._again._drop()  # noqa: SLF001  # as above
