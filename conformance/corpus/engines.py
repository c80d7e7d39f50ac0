"""Where tasks are done: in this process, in processes of this machine, or in another engine.

An engine has places; each does one task at a time, called from a thread of its own.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Final, Protocol

from conformance.core.errors import HarnessError, SpecError, UsageError
from conformance.corpus.fragment_work import FragmentOutcome, FragmentTask, FragmentWorker
from conformance.corpus.pipes import receive_message, send_message

_WORKER: Final = (
    "import sys; sys.path[:] = {path!r}; "
    "from conformance.corpus.worker import serve_tasks; serve_tasks()"
)
_PATIENCE: Final = 5  # seconds for a worker to end


class WorkerDeath(Exception):  # noqa: N818  # not an error that a caller could fix
    """The process that did a task ended before it had an outcome."""


class Engine(Protocol):
    """Does tasks in `places` at once. `run_task` raises WorkerDeath, SpecError and UsageError."""

    places: int

    def run_task(self, place: int, task: FragmentTask) -> FragmentOutcome: ...

    def stop(self) -> None:
        """Ends all work at once."""
        ...


class OwnProcess:
    """This process does everything, and dies of what a worker would die of."""

    places: int = 1

    def __init__(self) -> None:
        self._worker = FragmentWorker()

    def run_task(self, place: int, task: FragmentTask) -> FragmentOutcome:
        del place
        return self._worker.do_task(task)

    def stop(self) -> None:
        return


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
            _end(process)

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True
            processes, self._running = list(self._running.values()), {}
        for process in processes:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
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
    kind, _, said = outcome.error.partition(" ")
    if kind == "SpecError":
        raise SpecError(said)
    if kind:
        raise UsageError(said)
    return outcome
