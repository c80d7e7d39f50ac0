"""Rows that kill the process which judges them: found by halving, within bounds.

A worker may die for reasons other than its rows (it was killed, the machine ran out of memory), so
a fragment is tried `TRIES` times before its rows are suspected, and so is each row before it is set
aside. A fragment that cannot even be read is set aside whole after `TRIES` deaths, and the run goes
on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from conformance.corpus.engines import WorkerDeath
from conformance.corpus.fragment_work import FragmentOutcome, FragmentTask, unread_outcome

TRIES: Final = 3  # of a fragment, and of a row that stands alone
MOST_ASIDE: Final = 16  # rows of one fragment that are looked for; then all of it is put aside
DEADLY: Final = f"every process that read it ended, {TRIES} of {TRIES}"
_MOST_ROWS: Final = 1 << 40

TaskRunner = Callable[[FragmentTask], FragmentOutcome]


def judge_fragment(task: FragmentTask, run: TaskRunner) -> FragmentOutcome:
    """The outcome of a fragment; rows that end their worker are put aside, or all of it.

    `run` raises WorkerDeath.
    """
    aside: tuple[int, ...] = ()
    for _ in range(MOST_ASIDE + TRIES):
        asked = replace(task, aside=aside)
        outcome = _tried(asked, run, TRIES - 1)
        if outcome is not None:
            return outcome
        size = _row_count(asked, run)
        if size is None:
            return unread_outcome(task, DEADLY)
        outcome = _tried(asked, run, 1)
        if outcome is not None:
            return outcome
        found = _find_killer(replace(asked, kind="try"), size, run)
        if found is not None:  # a worker may also die by chance while a row is looked for
            aside = (*aside, found)
    return _tried(replace(task, kind="name"), run) or unread_outcome(task, DEADLY)


def _tried(task: FragmentTask, run: TaskRunner, times: int = TRIES) -> FragmentOutcome | None:
    """The outcome; None where the worker died each time."""
    for _ in range(times):
        try:
            return run(task)
        except WorkerDeath:
            continue
    return None


def _row_count(task: FragmentTask, run: TaskRunner) -> int | None:
    """How many rows are read; None where reading them, with none judged, ends the worker."""
    counted = _tried(replace(task, kind="try", first=_MOST_ROWS), run, 1)
    return None if counted is None else counted.rows


def _find_killer(task: FragmentTask, size: int, run: TaskRunner) -> int | None:
    """The first row that ends its worker whenever it is judged; None where none does."""
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        if _is_survived(replace(task, first=low, stop=middle), run):
            low = middle
        else:
            high = middle
    alone = replace(task, first=low, stop=high)
    return low if _tried(alone, run) is None else None


def _is_survived(task: FragmentTask, run: TaskRunner) -> bool:
    try:
        run(task)
    except WorkerDeath:
        return False
    return True
