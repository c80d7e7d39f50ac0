"""Where tasks are done: in processes of this machine, or in another engine.

An engine has places; each does one task at a time, called from a separate thread.

A worker may die for reasons other than its rows (it was killed, the machine ran out of memory), so
a fragment is tried `TRIES` times before its rows are suspected, and so is each row before it is set
aside. The row that ends a worker is found by halving. A fragment that cannot even be read is set
aside whole after `TRIES` deaths, and the run goes on.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Final, Protocol

from msgspec.structs import replace

from conformance.core.errors import HarnessError, SpecError, UsageError
from conformance.corpus.fragment_work import (
    FragmentOutcome,
    FragmentTask,
    unread_outcome,
)
from conformance.corpus.worker import receive_message, send_message

_WORKER: Final = (
    "import sys; sys.path[:] = {path!r}; "
    "from conformance.corpus.worker import serve_tasks; serve_tasks()"
)
_PATIENCE: Final = 5  # seconds for a worker to end
TRIES: Final = 3  # of a fragment, and of a row that stands alone
MOST_ASIDE: Final = 16  # rows of one fragment that are looked for; then all of it is put aside
DEADLY: Final = f"every process that read it ended, {TRIES} of {TRIES}"
_MOST_ROWS: Final = 1 << 40

TaskRunner = Callable[[FragmentTask], FragmentOutcome]


class WorkerDeath(Exception):  # noqa: N818  # not an error that a caller could fix
    """The process that did a task ended before it had an outcome."""


class Engine(Protocol):
    """Does tasks in `places` at once. `run_task` raises WorkerDeath, SpecError and UsageError."""

    places: int

    def run_task(self, place: int, task: FragmentTask) -> FragmentOutcome: ...

    def stop(self) -> None:
        """Ends all work at once."""
        ...


class WorkerProcesses:
    """Processes of this machine; one that dies is replaced by a new one."""

    def __init__(self, places: int) -> None:
        self.places = places
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()
        self._is_stopped = False

    def run_task(self, place: int, task: FragmentTask) -> FragmentOutcome:
        process = self._process(place)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            send_message(process.stdin, task)
            outcome = receive_message(process.stdout, FragmentOutcome)
        except (OSError, ValueError):
            outcome = None
        if outcome is None:
            self._end_process(place)
            raise WorkerDeath
        return raise_error(outcome)

    def _process(self, place: int) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._is_stopped:
                raise WorkerDeath
            if place not in self._running:
                code = _WORKER.format(path=sys.path)
                try:
                    self._running[place] = subprocess.Popen(  # noqa: S603  # our own interpreter
                        [sys.executable, "-c", code],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                    )
                except OSError as err:
                    raise HarnessError(f"no worker can be started: {err.strerror}") from err
            return self._running[place]

    def _end_process(self, place: int) -> None:
        with self._lock:
            process = self._running.pop(place, None)
        if process is not None:
            _kill_process(process)

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True
            processes, self._running = list(self._running.values()), {}
        for process in processes:
            _kill_process(process)


def _kill_process(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait(_PATIENCE)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue


def raise_error(outcome: FragmentOutcome) -> FragmentOutcome:
    """The outcome, unless it says that the run is wrong as a whole."""
    kind, _, message = outcome.error.partition(" ")
    if kind == "SpecError":
        raise SpecError(message)
    if kind:
        raise UsageError(message)
    return outcome


def judge_fragment(task: FragmentTask, run: TaskRunner) -> FragmentOutcome:
    """The outcome of a fragment; rows that end their worker are put aside, or all of it.

    `run` raises WorkerDeath.
    """
    aside: tuple[int, ...] = ()
    for _ in range(MOST_ASIDE + TRIES):
        remaining = replace(task, aside=aside)
        outcome = _run_with_retries(remaining, run, TRIES - 1)
        if outcome is not None:
            return outcome
        size = _row_count(remaining, run)
        if size is None:
            return unread_outcome(task, DEADLY)
        outcome = _run_with_retries(remaining, run, 1)
        if outcome is not None:
            return outcome
        found = _find_killer(replace(remaining, kind="try"), size, run)
        if found is not None:  # a worker may also die by chance while a row is looked for
            aside = (*aside, found)
    return _run_with_retries(replace(task, kind="name"), run) or unread_outcome(task, DEADLY)


def _run_with_retries(
    task: FragmentTask, run: TaskRunner, times: int = TRIES
) -> FragmentOutcome | None:
    """The outcome; None where the worker died each time."""
    for _ in range(times):
        try:
            return run(task)
        except WorkerDeath:
            continue
    return None


def _row_count(task: FragmentTask, run: TaskRunner) -> int | None:
    """How many rows are read; None where reading them, with none judged, ends the worker."""
    counted = _run_with_retries(replace(task, kind="try", first=_MOST_ROWS), run, 1)
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
    return low if _run_with_retries(alone, run) is None else None


def _is_survived(task: FragmentTask, run: TaskRunner) -> bool:
    try:
        run(task)
    except WorkerDeath:
        return False
    return True
