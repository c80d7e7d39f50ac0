"""`new_episodes`: what was recorded is replayed, and only what was not goes on to the server.

Both ways lead through the recording proxy, so the client sees the same cuts and endings as from
either alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from conformance.targets.recording import Origin, RecordingProxy, Shelf
from conformance.targets.recording.client_side import Asked
from conformance.targets.recording.visit import Way
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


@asynccontextmanager
async def episodes(
    upstream: Origin,
    shelf: Shelf,
    *,
    replayed: ReplayServer,
    known: Known,
    warn: Callable[[str], None],
) -> AsyncIterator[RecordingProxy]:
    """A recording proxy that asks `replayed` for what is `known`, and records the rest."""
    async with replayed:
        again, live = Way(Origin.parse(replayed.url), None), Way(upstream, shelf)

        def route(asked: Asked) -> Way:
            return again if known.takes(asked) else live

        async with RecordingProxy(upstream, shelf, warn=warn, route=route) as proxy:
            yield proxy
