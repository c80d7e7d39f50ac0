"""Candidates take turns in every round, and ratios are taken round by round.

Machines drift; two candidates of one round less so. Reported are medians with min and max.
"""

from __future__ import annotations

import gc
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

ROUNDS: Final = 7
Candidate = Callable[[], object]
Times = Mapping[str, Sequence[float]]


def rounds() -> int:
    """How many rounds the command line asks for."""
    return int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS


def taken(
    candidates: Mapping[str, Candidate], count: int, clock: Callable[[], float] = time.perf_counter
) -> Times:
    """Seconds per candidate and round; garbage of one is not collected on another's account.

    `clock` may be `time.process_time`, or `children` for candidates that are processes.
    """
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(count):
        for name, candidate in candidates.items():
            gc.collect()
            began = clock()
            candidate()
            times[name].append(clock() - began)
    return times


def children() -> float:
    """Processor seconds of all processes that were started and have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Median, smallest and largest."""
    low, high = min(values), max(values)
    return f"{statistics.median(values):.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def ratios(times: Times, of: str, to: str) -> list[float]:
    return [one / other for one, other in zip(times[of], times[to], strict=True)]


def show(title: str, text: str) -> None:
    sys.stdout.write(f"{title:<66} {text}\n")
    sys.stdout.flush()


def report(title: str, times: Times, of: str, to: str, goal: str) -> None:
    """One line: how many times as long `of` takes as `to`."""
    show(f"{title}: {of} / {to}", f"{spread(ratios(times, of, to))}  goal {goal}")


def each(title: str, times: Times, events: int) -> None:
    """Microseconds per event, for orientation: they hold on this machine and day only."""
    for name, values in times.items():
        show(f"  {title}: {name}", f"{spread([v / events * 1e6 for v in values])} us/event")


def process(*command: str, cwd: str | None = None, code: int = 0) -> Candidate:
    """A candidate that is a whole process; it must end with the exit code `code`.

    It may keep its bytecode, as an installed package does: else every run would compile it anew.
    """
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run() -> None:
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, check=False)
        if done.returncode != code:
            raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr[-500:]!r}")

    return run
