"""How long a body may stay silent, and how soon a user stops one that has nothing more to say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from math import inf
from time import monotonic
from typing import Final

from conformance.wire.faults import ExchangeLimits

_MOMENT: Final = 1.0  # seconds of silence, before a user stops an answer
_MOST_LATE: Final = 0.05  # seconds


class _SilenceWatch:
    """Ends the reading of a body after a silence, and when its time is over.

    To move a timer costs more than to read a piece that is there already, so it is moved once in
    a while, and a silence may be noticed a little late.
    """

    def __init__(
        self, timer: asyncio.Timeout, limits: ExchangeLimits, begun: float, *, streams: bool
    ) -> None:
        self._timer = timer
        self._over = begun + limits.timeout
        self._idle = limits.idle if streams else inf
        self._late = min(limits.idle / 10, _MOST_LATE)
        self._moved = -inf

    def begin_wait(self) -> None:
        now = monotonic()
        if now - self._moved > self._late:
            self._moved = now
            self._timer.reschedule(min(now + self._idle + self._late, self._over))

    async def hurry_after(self, event: asyncio.Event) -> None:
        """From the event on, a moment of silence is enough."""
        await event.wait()
        self._idle, self._moved = _MOMENT, -inf
        self.begin_wait()


@asynccontextmanager
async def silence_watched(
    limits: ExchangeLimits, begun: float, *, streams: bool, stops: asyncio.Event | None
) -> AsyncGenerator[_SilenceWatch, None]:
    """Raises TimeoutError after a silence; a moment of it is enough once `stops` has happened."""
    async with asyncio.timeout(None) as timer:
        watch = _SilenceWatch(timer, limits, begun, streams=streams)
        hurrying = asyncio.create_task(watch.hurry_after(stops)) if stops is not None else None
        try:
            yield watch
        finally:
            if hurrying is not None:
                hurrying.cancel()
