"""How far a check of a corpus is: a line on a terminal, or lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

from conformance.cli.terminal import progress_line, warn
from conformance.core.errors import UsageError
from conformance.corpus.checking import CorpusProgress
from conformance.corpus.engines import Engine, WorkerProcesses
from conformance.recordings.parallel import processor_count
from conformance.report.printable import visible
from conformance.report.wording import count

_LOG_SECONDS: Final = 10.0
_REPEATED: Final = 3  # ids of several rows that are named
_TERMINAL_SECONDS: Final = 0.2


def engine_of(name: str, processes: int | None, ray_address: str | None) -> Engine:
    """The engine of this name. Raises UsageError."""
    if name not in ("local", "ray"):
        raise UsageError(f"there is no engine {name!r}", hint="local or ray")
    if ray_address is not None and name != "ray":
        raise UsageError("--ray-address goes with --engine ray")
    if name == "ray":
        from conformance.corpus.ray_engine import RayEngine  # noqa: PLC0415  # heavy

        return RayEngine(processes, ray_address)
    return WorkerProcesses(processes or processor_count())  # one alone may die, too


class CheckReporter:
    """Shows progress on stderr while a check runs."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._is_terminal = sys.stderr.isatty()
        self._shown = time.monotonic()
        self._line: Callable[[str], None] = warn

    def __enter__(self) -> Self:
        self._line = self._stack.enter_context(progress_line("finding the streams ..."))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def show(self, progress: CorpusProgress) -> None:
        """One more fragment is done."""
        now = time.monotonic()
        if now - self._shown < (_TERMINAL_SECONDS if self._is_terminal else _LOG_SECONDS):
            return
        self._shown = now
        if self._is_terminal:
            self._line(progress_text(progress))
        else:
            warn(progress_text(progress))

    def warn_faults(self, progress: CorpusProgress) -> None:
        """Warns of unreadable sources, a line each, the first few."""
        for fault in progress.faults:
            warn(f"error: {visible(fault)}")
        if more := progress.unreadable - len(progress.faults):
            warn(f"error: {count(more, 'more row')} not readable, see the table unreadable")

        for name, times in progress.repeated[:_REPEATED]:
            warn(f"error: {times} rows have the id {visible(name)!r}")
        if more_ids := progress.repeated[_REPEATED:]:
            warn(f"error: {count(len(more_ids), 'more id')} of several rows")
        for note in progress.notes:
            warn(f"note: {visible(note)}")

    def summary(self, progress: CorpusProgress, folder: Path) -> str:
        """The work done, in one line."""
        facts = [
            f"{count(progress.streams, 'stream')} judged",
            count(progress.findings, "finding"),
            f"{progress.unreadable:,} not readable",
        ]
        if progress.done_before:
            facts.append(f"{count(progress.done_before, 'part')} done before")
        if progress.stale:
            facts.append(f"{count(progress.stale, 'part')} gone from the source")
        return f"{', '.join(facts)}: {folder}"


def progress_text(progress: CorpusProgress) -> str:
    """How much is done, how fast, and how long it takes still."""
    rate = progress.streams / max(progress.seconds, 0.001)
    done = progress.fragments + progress.done_before
    parts = f"{done} of {count(progress.known, 'part')}"
    left = progress.seconds_left
    rest = "" if left is None else f", {duration_text(left)} left"
    shown = parts if progress.is_all_known else count(done, "part")
    return (
        f"{shown}, {progress.streams:,} streams ({rate:,.0f}/s), "
        f"{progress.findings:,} findings{rest}"
    )


def duration_text(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
