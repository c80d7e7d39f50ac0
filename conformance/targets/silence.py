"""How long a body may stay silent: less once a user stops it, or it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from math import inf
from time import monotonic
from typing import Final

from conformance.wire.faults import ExchangeLimits

_MOMENT: Final = 1.0  # seconds of silence, before a user stops an answer
_MOST_LATE: Final = 0.05  # seconds


class SilenceWatch:
    """Ends the reading of a body after a silence, and when its time is over.

    To move a timer costs more than to read a piece that is there already, so it is moved once in
    a while, and a silence may be noticed a little late.
    """

    def __init__(
        self, timer: asyncio.Timeout, limits: ExchangeLimits, begun: float, *, streams: bool
    ) -> None:
        self.begun = begun
        self._timer = timer
        self._over = begun + limits.timeout
        self._idle = limits.idle if streams else inf
        self._late = min(limits.idle / 10, _MOST_LATE)
        self._moved = -inf
        self._latest = monotonic()
        self.is_over = False  # it had ended, and stayed open

    def begin_wait(self) -> None:
        self._latest = now = monotonic()
        if now - self._moved > self._late:
            self._moved = now
            self._timer.reschedule(min(now + self._idle + self._late, self._over))

    async def hurry_after(self, event: asyncio.Event) -> None:
        """From the event on, a moment of silence is enough."""
        await event.wait()
        self._idle, self._moved = _MOMENT, -inf
        self.begin_wait()

    async def end_behind(self, has_said_end: Callable[[], bool], grace: float) -> None:
        """Ends the reading where a body that is over stays open for so many seconds."""
        asked = -inf
        while not self.is_over:
            await asyncio.sleep(max(self._latest + grace - monotonic(), grace / 10))
            is_quiet = monotonic() - self._latest >= grace
            if not is_quiet or asked == self._latest:
                continue
            asked = self._latest
            if has_said_end():
                self.is_over = True
                self._timer.reschedule(monotonic())


@asynccontextmanager
async def silence_watched(
    limits: ExchangeLimits,
    begun: float,
    *,
    streams: bool,
    stops: asyncio.Event | None,
    has_said_end: Callable[[], bool] | None = None,
    grace: float = inf,
) -> AsyncGenerator[SilenceWatch, None]:
    """Raises TimeoutError after a silence; a moment of it is enough once `stops` has happened.

    `grace` is enough once `has_said_end`, which is called when the body has been silent so long.
    """
    async with asyncio.timeout(None) as timer:
        watch = SilenceWatch(timer, limits, begun, streams=streams)
        tasks = []
        if stops is not None:
            tasks.append(asyncio.create_task(watch.hurry_after(stops)))
        if has_said_end is not None and grace < limits.idle:
            tasks.append(asyncio.create_task(watch.end_behind(has_said_end, grace)))
        try:
            yield watch
        finally:
            for each in tasks:
                each.cancel()
