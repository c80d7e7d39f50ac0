"""How the work grows with what it is given; processor time, so a busy machine changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable

_TIMES = 10


def grows_linearly(work: Callable[[int], object], size: int) -> bool:
    """Whether ten times the size takes less than forty times as long: by its square it takes 100.

    `size` is the large one. The small one is measured several times, and the shortest counts.
    """
    small = min(_seconds(work, size // _TIMES) for _ in range(3))
    return _seconds(work, size) < 4 * _TIMES * max(small, 0.001)


def _seconds(work: Callable[[int], object], size: int) -> float:
    start = time.process_time()
    work(size)
    return time.process_time() - start
