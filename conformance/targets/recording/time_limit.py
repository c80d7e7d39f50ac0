"""A limit of processor time for one piece of work, in the main thread of a process of its own."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType


class OverTimeError(Exception):
    """The work took longer than it may, and was broken off in its midst."""


LimitTime = Callable[[float], AbstractContextManager[None]]
"""Seconds of processor time; within the block `OverTimeError` may be raised anywhere."""


def unlimited_time(_: float) -> AbstractContextManager[None]:
    """For threads that get no signals."""
    return nullcontext()


class ProcessorClock:
    """Limits by SIGVTALRM, which it takes for itself; regular expressions are interrupted, too."""

    def __init__(self) -> None:
        self._limit = 0.0
        signal.signal(signal.SIGVTALRM, self._ring)

    @contextmanager
    def limit_time(self, seconds: float) -> Iterator[None]:
        """Raises OverTimeError in the block, once it took so long."""
        self._limit = seconds
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            yield
        finally:
            self._limit = 0.0  # a signal that is on its way finds nobody
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def _ring(self, _: int, __: FrameType | None) -> None:
        if self._limit:
            raise OverTimeError(f"redaction took more than {self._limit:.1f} s")
