"""`corpus check`: the fragments of a source dealt out to an engine, and what comes of them written.

Each place of the engine has a thread that takes the next fragment, has it judged and writes its
files. Nothing is kept of a fragment but its name: neither start nor memory grow with the corpus.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from conformance import __version__
from conformance.cassette.redaction.own_keys import own_keys
from conformance.core.errors import CassetteError
from conformance.core.own_keys import NAMES
from conformance.corpus.columns import ColumnNames, check_kept, is_column_of, path_values
from conformance.corpus.engines import Engine, WorkerDeath, judge_fragment
from conformance.corpus.fragment_work import FragmentOutcome, FragmentTask
from conformance.corpus.fragments import Fragment, find_fragments, open_parquet
from conformance.corpus.json_rows import read_json_rows
from conformance.corpus.judge import CorpusJudge, JudgeChoices
from conformance.corpus.output import (
    ID_COLUMNS,
    CorpusAbout,
    CorpusOutput,
    read_table,
    repeated_ids,
)
from conformance.corpus.parquet_rows import wanted_columns
from conformance.corpus.storage import Storage, absolute_source

_MOST_FAULTS: Final = 20  # reasons that are reported
_FIRST_PARTS: Final = 100  # that columns to keep are looked for in
_FIRST_ROWS: Final = 1000  # of each


class CorpusProgress(Struct):
    """The progress of a check. `known` counts the fragments found so far; sizes are in bytes.

    `done_before` are fragments that an earlier run had judged. `faults` are the first reasons of
    failures, `notes` the first of omissions, `repeated` ids that several rows share.
    """

    began: float = field(default_factory=time.monotonic)
    fragments: int = 0
    known: int = 0
    is_all_known: bool = False
    done_before: int = 0
    rows: int = 0
    streams: int = 0
    findings: int = 0
    unreadable: int = 0
    size: int = 0
    known_size: int = 0
    stale: int = 0
    repeated: tuple[tuple[str, int], ...] = ()
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, outcome: FragmentOutcome) -> None:
        self.fragments += 1
        self.rows += outcome.rows
        self.streams += outcome.streams
        self.findings += outcome.findings
        self.unreadable += outcome.unreadable
        self.size += outcome.size
        self.faults.extend(outcome.faults[: _MOST_FAULTS - len(self.faults)])
        self.notes.extend(outcome.notes[: _MOST_FAULTS - len(self.notes)])

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    @property
    def seconds_left(self) -> float | None:
        """By the bytes that are known and their rate so far; None before anything is done."""
        if not self.size or not self.is_all_known:
            return None
        return (self.known_size - self.size) * self.seconds / self.size


Watching = Callable[[CorpusProgress], None]


def check_corpus(
    source: str,
    folder: Path,
    choices: JudgeChoices,
    engine: Engine,
    watching: Watching = lambda _: None,
) -> CorpusProgress:
    """Judges a source into a folder, and continues where an earlier run stopped.

    Raises UsageError and SpecError if the run cannot start or continue; the results so far stay.
    """
    judge = CorpusJudge(choices)
    storage = Storage(absolute_source(source))
    _expect_streams(storage, choices.columns)
    about = CorpusAbout(storage.shown(), choices, __version__, judge.rules_hash)
    output = CorpusOutput(folder)
    output.begin(about)
    try:
        dealing = _Dealing(storage, output, about, engine, watching)
        progress = dealing.run()
        progress.stale = output.finish(about, dealing.names)
        progress.repeated = repeated_ids(read_table(folder, "verdicts", ID_COLUMNS))
        return progress
    finally:
        output.close()


def _expect_streams(storage: Storage, columns: ColumnNames) -> None:
    """Raises UsageError if there are no streams, or the first files lack required columns."""
    fragments = find_fragments(storage, columns)
    first = next(fragments, None)
    if first is None:
        raise storage.error("holds no recorded streams that are read")
    if first.kind == "parquet" and not first.fault:
        with open_parquet(storage, first.path) as parquet:
            wanted_columns(parquet, columns, storage, first.path)
    if columns.keep and first.kind != "files":
        _expect_kept(storage, columns, chain((first,), fragments))


def _expect_kept(storage: Storage, columns: ColumnNames, fragments: Iterator[Fragment]) -> None:
    """A log may have gained a column on its way: it is looked for in many files."""
    there: set[str] = set()
    paths: dict[str, None] = {}
    for fragment in islice(fragments, _FIRST_PARTS):
        if fragment.fault or fragment.kind == "files" or fragment.path in paths:
            continue
        paths[fragment.path] = None
        there |= {*path_values(fragment.path), *_columns_of(storage, columns, fragment)}
        if all(is_column_of(column, there) for column in columns.keep):
            return
    if paths:
        check_kept(columns, sorted(there), storage.shown(next(iter(paths))))


def _columns_of(storage: Storage, columns: ColumnNames, fragment: Fragment) -> Iterator[str]:
    if fragment.kind == "parquet":
        with open_parquet(storage, fragment.path) as parquet:
            yield from parquet.schema_arrow.names
        return
    rows = read_json_rows(storage, fragment.path, 0, fragment.size, columns)
    with suppress(CassetteError):  # it is reported when the file is judged
        for _, row in islice(rows, _FIRST_ROWS):  # a key may be in some rows only
            yield from row if isinstance(row, dict) else ()


class _Dealing:
    """Deals fragments out to the places of an engine, a thread for each."""

    def __init__(
        self,
        storage: Storage,
        output: CorpusOutput,
        about: CorpusAbout,
        engine: Engine,
        watching: Watching,
    ) -> None:
        self.names: set[str] = set()
        self._storage = storage
        self._output = output
        self._about = about
        self._engine = engine
        self._watching = watching
        self._progress = CorpusProgress()
        self._fragments = find_fragments(storage, about.choices.columns)
        self._lock = threading.Lock()
        self._error: BaseException | None = None

    def run(self) -> CorpusProgress:
        """Everything done. Raises what went wrong first."""
        if self._engine.places == 1:
            try:
                self._work_at(0)
            finally:
                self._engine.stop()
        else:
            self._run_threads()
        if self._error is not None:
            raise self._error
        return self._progress

    def _run_threads(self) -> None:
        threads = [
            threading.Thread(target=self._work_at, args=(place,), daemon=True)
            for place in range(self._engine.places)
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():  # a join without end would not hear Ctrl-C everywhere
                    thread.join(0.2)
        except BaseException as err:
            self._error = err
            raise
        finally:
            self._engine.stop()
            for thread in threads:
                thread.join()

    def _work_at(self, place: int) -> None:
        try:
            while self._error is None and (fragment := self._next_fragment()) is not None:
                self._judge_at(place, fragment)
        except BaseException as err:  # noqa: BLE001  # raised again by the thread that waits
            with self._lock:
                self._error = self._error or err

    def _next_fragment(self) -> Fragment | None:
        with self._lock:
            for fragment in self._fragments:
                self._progress.known += 1
                self.names.add(fragment.name)
                if not self._output.is_done(fragment):
                    self._progress.known_size += fragment.size
                    return fragment
                self._progress.done_before += 1
            self._progress.is_all_known = True
            return None

    def _judge_at(self, place: int, fragment: Fragment) -> None:
        task = FragmentTask(
            self._storage.source,
            self._about.choices,
            fragment,
            rules=self._about.rules,
            keys=own_keys(),
            names=tuple(NAMES),
        )
        outcome = judge_fragment(task, lambda each: self._run_task(place, each))
        with self._lock:
            if self._error is not None:
                return
            self._output.write_fragment(fragment, outcome.tables)
            self._progress.add(outcome)
            self._watching(self._progress)

    def _run_task(self, place: int, task: FragmentTask) -> FragmentOutcome:
        if self._error is not None:
            raise WorkerDeath
        return self._engine.run_task(place, task)
