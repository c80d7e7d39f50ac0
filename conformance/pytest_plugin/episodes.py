"""`new_episodes`: what was recorded is replayed, and only what was not goes on to the server.

Both ways lead through the recording proxy, so the client sees the same cuts and endings as from
either alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from conformance.targets.recording import Origin, RecordingProxy, Shelf
from conformance.targets.recording.relay import RequestSettings
from conformance.targets.replay import ReplayOptions, ReplayServer, matching
from conformance.targets.replay.tape import tapes
from conformance.wire.requests import HttpRequest


class Known:
    """What the replay server has left to answer, counted as it counts."""

    def __init__(self, sources: tuple[Path, ...], options: ReplayOptions) -> None:
        entries = [entry for each in tapes(sources) for entry in each.entries]
        self._index = matching.Index(entries, options)
        self._shelf = matching.Shelf(self._index)

    def takes(self, request: HttpRequest) -> bool:
        """Whether the replay server answers this; its turn is taken then."""
        return self._shelf.take(self._index.wanted(request, request.target)) is not None


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
        again, live = (
            RequestSettings(Origin.parse(replayed.url), None),
            RequestSettings(upstream, shelf),
        )

        def route(request: HttpRequest) -> RequestSettings:
            return again if known.takes(request) else live

        async with RecordingProxy(upstream, shelf, warn=warn, route=route) as proxy:
            yield proxy
