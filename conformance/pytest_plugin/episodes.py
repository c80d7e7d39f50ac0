"""`new_episodes`: what was recorded is replayed, and only what was not goes on to the server.

Both ways lead through the recording proxy, so the client sees the same cuts and endings as from
either alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from conformance.targets.recording import Origin, RecordingFolder, RecordingProxy
from conformance.targets.recording.relay import RelayRoute
from conformance.targets.replay import ReplayOptions, ReplayServer, matching
from conformance.targets.replay.tape import load_recordings
from conformance.wire.requests import HttpRequest


class Known:
    """What the replay server has left to answer, counted as it counts."""

    def __init__(self, sources: tuple[Path, ...], options: ReplayOptions) -> None:
        entries = [entry for each in load_recordings(sources) for entry in each.entries]
        self._index = matching.ExchangeIndex(entries, options)
        self._shelf = matching.ReplaySession(self._index)

    def takes(self, request: HttpRequest) -> bool:
        """Whether the replay server answers this; its turn is taken then."""
        return self._shelf.next_match(self._index.request_key(request, request.target)) is not None


@asynccontextmanager
async def episodes(
    upstream: Origin,
    shelf: RecordingFolder,
    *,
    replayed: ReplayServer,
    known: Known,
    warn: Callable[[str], None],
) -> AsyncIterator[RecordingProxy]:
    """A recording proxy that asks `replayed` for what is `known`, and records the rest."""
    async with replayed:
        again, live = (
            RelayRoute(Origin.parse(replayed.url), None),
            RelayRoute(upstream, shelf),
        )

        def route(request: HttpRequest) -> RelayRoute:
            return again if known.takes(request) else live

        async with RecordingProxy(upstream, shelf, warn=warn, route=route) as proxy:
            yield proxy
