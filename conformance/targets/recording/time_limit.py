"""Limits of time for one piece of work, in the main thread of a separate process."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter
from types import FrameType
from typing import Final

_AT_ONCE: Final = 1e-6  # zero would switch the timer off


class OverTimeError(Exception):
    """The work took longer than it may, and was broken off in its midst."""


LimitTime = Callable[[float], AbstractContextManager[None]]
"""Seconds of processor time; within the block `OverTimeError` may be raised anywhere."""


def unlimited_time(_: float) -> AbstractContextManager[None]:
    """For threads that get no signals."""
    return nullcontext()


class ProcessorClock:
    """Limits by SIGVTALRM, which it takes for itself; regular expressions are interrupted, too.

    Once `end_by` said so the clock on the wall counts as well, by SIGALRM.
    """

    def __init__(self) -> None:
        self._limit = 0.0
        self._end: float | None = None
        signal.signal(signal.SIGVTALRM, self._ring)
        signal.signal(signal.SIGALRM, self._ring)

    def end_by(self, end: float | None) -> None:
        """No work continues after that, by `perf_counter`; None: as long as it takes."""
        self._end = end

    @contextmanager
    def limit_time(self, seconds: float) -> Iterator[None]:
        """Raises OverTimeError in the block, once it took so long."""
        try:  # a signal may come as soon as a timer is set
            self._limit = seconds
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
            if self._end is not None:
                signal.setitimer(signal.ITIMER_REAL, max(self._end - perf_counter(), _AT_ONCE))
            yield
        finally:
            self._limit = 0.0  # a signal that is on its way has no effect
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, _: int, __: FrameType | None) -> None:
        if self._limit:
            raise OverTimeError(f"redaction took more than {self._limit:.1f} s")
