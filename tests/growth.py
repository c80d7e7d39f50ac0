"""How the work grows with what it is given, as a ratio of two sizes; no test asserts a time."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_TIMES = 10
_TRIES = 4


def grows_linearly(work: Callable[[int], object], size: int) -> bool:
    """Whether ten times the size takes less than forty times as long: by its square it takes 100.

    `size` is the large one. A busy machine makes one try slow and never all of them, while a
    square is one in every try: the shortest of each size counts, and the first good ratio ends it.
    """
    small = large = float("inf")
    for _ in range(_TRIES):
        small = min(small, *(_seconds(work, size // _TIMES) for _ in range(3)))
        large = min(large, _seconds(work, size))
        if large < 4 * _TIMES * max(small, 0.001):
            return True
    return False


def _seconds(work: Callable[[int], object], size: int) -> float:
    """The processor time of one call, without that of collecting what other tests left."""
    with _uncollected():
        start = time.process_time()
        work(size)
        return time.process_time() - start


@contextmanager
def _uncollected() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
