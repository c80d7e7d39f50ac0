"""Rows that end the process which judges them: found by halving, within bounds.

A worker may die for a reason that has nothing to do with its rows (somebody ended it, the machine
had no memory left), so a fragment is tried `TRIES` times before its rows are suspected, and so is
each row before it is put aside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from conformance.corpus.engines import WorkerDeath
from conformance.corpus.fragment_work import FragmentOutcome, FragmentTask

TRIES: Final = 3  # of a fragment, and of a row that stands alone
MOST_ASIDE: Final = 16  # rows of one fragment that are looked for; then all of it is put aside
_MOST_ROWS: Final = 1 << 40

TaskRunner = Callable[[FragmentTask], FragmentOutcome]


def judge_fragment(task: FragmentTask, run: TaskRunner) -> FragmentOutcome:
    """The outcome of a fragment; rows that end their worker are put aside.

    `run` raises WorkerDeath. Raises it, too, where not even the ids can be read.
    """
    aside: tuple[int, ...] = ()
    for _ in range(MOST_ASIDE + TRIES):
        outcome = _tried(replace(task, aside=aside), run)
        if outcome is not None:
            return outcome
        found = _find_killer(replace(task, kind="try", aside=aside), run)
        if found is not None:  # a worker may also die by chance while a row is looked for
            aside = (*aside, found)
    named = _tried(replace(task, kind="name"), run)
    if named is None:
        raise WorkerDeath
    return named


def _tried(task: FragmentTask, run: TaskRunner) -> FragmentOutcome | None:
    """The outcome; None where the worker died each time."""
    for _ in range(TRIES):
        try:
            return run(task)
        except WorkerDeath:
            continue
    return None


def _find_killer(task: FragmentTask, run: TaskRunner) -> int | None:
    """The first row that ends its worker whenever it is judged; None where none does."""
    counted = _tried(replace(task, first=_MOST_ROWS), run)
    if counted is None:
        return None  # it dies without judging anything
    low, high = 0, counted.rows
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
