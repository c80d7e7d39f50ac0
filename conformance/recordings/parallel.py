"""Many files judged by several processes; the outcomes have the order of the files.

Processes are forked, so that suites are loaded once and rules compiled before are shared. Where
that is not possible, or there are few files, everything happens in this process.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

JobItem = TypeVar("JobItem")
JobOutcome = TypeVar("JobOutcome")

WORTHWHILE: Final = 64  # files: fewer are done before the processes have begun
_AT_ONCE: Final = 32  # files that a process takes at a time, at most
_TURNS: Final = 4  # times that each process comes back for more, so that all end together
_GARBAGE: Final = 50_000  # objects to come before a process looks for garbage among them

_work: Callable[[Any], object] | None = None  # what a forked process does; set in it alone


def run_parallel(
    work: Callable[[JobItem], JobOutcome],
    items: Iterator[JobItem],
    jobs: int | None,
    at_once: int = _AT_ONCE,
) -> Iterator[JobOutcome]:
    """`work` done on each item, such as a path, in order. `jobs` None stands for all processors.

    Items and outcomes must be picklable; an exception of the work is raised here. A process takes
    `at_once` items at most.
    """
    first = list(islice(items, WORTHWHILE))
    count = processor_count() if jobs is None else jobs
    if len(first) < WORTHWHILE or count < 2 or not _may_fork():
        yield from map(work, first)
        yield from map(work, items)
        return
    yield work(first[0])  # what is compiled on the way, the others inherit
    yield from _run_forked(work, [*first[1:], *items], count, at_once)


def processor_count() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _may_fork() -> bool:
    """A fork takes this thread only: another one could hold a lock for ever."""
    return hasattr(os, "fork") and threading.active_count() == 1


def _run_forked(
    work: Callable[[JobItem], JobOutcome], items: Sequence[JobItem], count: int, most: int
) -> Iterator[JobOutcome]:
    import multiprocessing  # noqa: PLC0415  # 8 ms that few files must not pay
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415  # as above

    with ProcessPoolExecutor(
        count, multiprocessing.get_context("fork"), initializer=_begin_process, initargs=(work,)
    ) as pool:
        try:
            at_once = max(1, min(most, len(items) // (count * _TURNS)))
            yield from pool.map(_do_work, items, chunksize=at_once)  # type: ignore[misc]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin_process(work: Callable[[Any], object]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends without a word: the parent says it
    # What was inherited is no garbage, and one file leaves little; looking takes time.
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    global _work  # noqa: PLW0603  # a closure cannot be sent to a process, only inherited
    _work = work


def _do_work(item: object) -> object:
    assert _work is not None
    return _work(item)
