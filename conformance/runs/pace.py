"""How fast and how much a run may ask, and how long it waits where a server says so."""

from __future__ import annotations

import asyncio
import email.utils
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from time import monotonic
from typing import Final

from conformance.core.events import Response

FIRST_WAIT: Final = 1.0  # seconds, doubled each time, where the server does not say how long
_NOT_NOW: Final = frozenset({429, 503})
_LONGEST: Final = 86_400.0


class RequestsSpentError(Exception):
    """The run has sent as many requests as it may."""


class RequestPace:
    """Counts requests, spaces them out, and says how long to wait after a refusal.

    `most` bounds the requests of the run, `rpm` those of a minute (None: no bound), `patience`
    is the longest wait in seconds.
    """

    def __init__(
        self,
        *,
        most: int | None = None,
        rpm: float | None = None,
        patience: float = 60.0,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.sent = 0
        self._most = most
        self._gap = 60.0 / rpm if rpm else 0.0
        self._patience = patience
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0

    async def wait_turn(self) -> None:
        """Waits until a request may go out. Raises RequestsSpentError when none may any more."""
        if self._most is not None and self.sent >= self._most:
            raise RequestsSpentError
        self.sent += 1
        now = self._clock()
        at, self._next = max(self._next, now), max(self._next, now) + self._gap
        if at > now:
            await self._sleep(at - now)

    async def wait_after_refusal(self, response: Response | None, attempt: int) -> bool:
        """Waits after a temporary refusal (429, 503), for the server's time or a growing one.

        Whether to retry: not after any other answer, nor when patience ends.
        """
        if response is None or response.status not in _NOT_NOW:
            return False
        stated = retry_after_seconds(response.header("retry-after"))
        wait = FIRST_WAIT * 2**attempt if stated is None else stated
        if wait > self._patience or attempt >= 3:
            return False
        await self._sleep(wait)
        return True


def asks_to_wait(response: Response | None) -> bool:
    """Whether the server only says: not now."""
    return response is not None and response.status in _NOT_NOW


def retry_after_seconds(text: str | None) -> float | None:
    """Retry-After, seconds or a date (RFC 9110, 10.2.3); None if it is neither."""
    if text is None:
        return None
    if text.strip().isascii() and text.strip().isdigit():
        return min(float(text.strip()[:9]), _LONGEST)
    try:
        at = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return min(max(0.0, (at - datetime.now(UTC)).total_seconds()), _LONGEST)
