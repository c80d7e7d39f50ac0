"""The work on one fragment: its rows read, judged, and made the tables of its output.

Rule 1: what comes of a fragment hangs on the fragment and the choices alone: done again, here or on
another machine, it is the same to the byte.
Rule 2: one row that cannot be read or judged is a row of `unreadable`, and all others are judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct, field

from conformance.cassette import open_recording
from conformance.cassette.redaction.own_keys import remember_keys
from conformance.core.errors import ConformanceError, SpecError, UsageError
from conformance.core.own_keys import NAMES
from conformance.core.unexpected import fault_of, is_debugging
from conformance.corpus.columns import ColumnNames, path_values, value_at
from conformance.corpus.conversations import RowConversations
from conformance.corpus.fragments import Fragment
from conformance.corpus.json_rows import read_json_rows
from conformance.corpus.judge import CorpusJudge, JudgeChoices, JudgedStream
from conformance.corpus.parquet_rows import read_parquet_rows
from conformance.corpus.populations import PopulationWatch
from conformance.corpus.rows import (
    WHOLE_FRAGMENT,
    FragmentRow,
    UnreadableStream,
    few_at_once,
    recording_stream,
    row_stream,
)
from conformance.corpus.storage import Storage
from conformance.corpus.tables import FragmentTables

TaskKind = Literal["judge", "try", "name"]
KILLED: Final = "it ended the process that judged it"


class FragmentTask(Struct, frozen=True):
    """What a worker is to do with a fragment.

    `judge` it except the rows `aside`; `try` the rows from `first` to before `stop`, for nothing
    but to see whether that works; or `name` the ids, and judge no row. `rules` is the hash of those
    that the driver judges by; empty for any. `keys` are secrets of the user, `names` headers whose
    values are.
    """

    source: str
    choices: JudgeChoices
    fragment: Fragment
    kind: TaskKind = "judge"
    aside: tuple[int, ...] = ()
    first: int = 0
    stop: int | None = None
    rules: str = ""
    keys: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class FragmentOutcome(Struct):
    """The outcome of a task: the output files by table, and remarks on them.

    `rows` counts the rows of the fragment, `streams` results; `faults` are the first reasons of
    failures, and `notes` list omissions.
    """

    tables: dict[str, bytes] = field(default_factory=dict)
    rows: int = 0
    streams: int = 0
    findings: int = 0
    unreadable: int = 0
    size: int = 0
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""


_MOST_FAULTS: Final = 3
MAX_VALUE: Final = 64 << 20  # bytes of a value that is judged


class FragmentWorker:
    """Does tasks of one source, one after the other, and holds what they share."""

    def __init__(self) -> None:
        self._judge: CorpusJudge | None = None
        self._storage: Storage | None = None

    def do_task(self, task: FragmentTask) -> FragmentOutcome:
        """The outcome. Raises SpecError and UsageError, which concern the whole run."""
        remember_keys(task.keys)
        NAMES.update(dict.fromkeys(task.names))
        if self._judge is None or self._judge.choices != task.choices:
            self._judge = _judge_for(task)
        if self._storage is None or self._storage.source != task.source:
            self._storage = Storage(task.source)
        if task.kind == "try":
            return self._try_rows(self._judge, self._storage, task)
        return self._judge_rows(self._judge, self._storage, task)

    def _try_rows(
        self, judge: CorpusJudge, storage: Storage, task: FragmentTask
    ) -> FragmentOutcome:
        rows = 0
        for row in read_streams(storage, task.fragment, judge.choices):
            rows += 1
            is_in_range = task.first <= row.row and (task.stop is None or row.row < task.stop)
            if is_in_range and row.row not in task.aside:
                judge.judge_stream(row)
        return FragmentOutcome(rows=rows)

    def _judge_rows(
        self, judge: CorpusJudge, storage: Storage, task: FragmentTask
    ) -> FragmentOutcome:
        tables = FragmentTables(task.fragment, task.choices.columns.keep)
        outcome = FragmentOutcome(size=task.fragment.size)
        watch = PopulationWatch(judge)
        talks = RowConversations(judge)
        faults: list[str] = []
        is_whole = True
        for rows in few_at_once(read_streams(storage, task.fragment, judge.choices)):
            outcome.rows += len(rows)
            to_judge = [_row_to_judge(row, task) for row in rows]
            for judged in judge.judge_streams(to_judge, collects=True):
                if isinstance(judged, JudgedStream):
                    watch.see_stream(judged)
                    for each in talks.take(judged):
                        tables.add_judged(each)
                    continue
                tables.add_unreadable(judged)
                is_whole &= judged.row != WHOLE_FRAGMENT
                if len(faults) < _MOST_FAULTS:
                    where = storage.shown(judged.path or task.fragment.path)
                    faults.append(_fault_text(judged, where))
        for each in talks.rest():
            tables.add_judged(each)
        for population, counts in watch.counted():
            tables.add_shapes(population, counts)
        outcome.streams = tables.row_count("verdicts")
        outcome.findings = tables.row_count("findings")
        outcome.unreadable = tables.row_count("unreadable")
        outcome.faults = tuple(faults)
        here = storage.shown(task.fragment.path)
        outcome.notes = tuple(f"{here}: {note}" for note in talks.notes)
        outcome.tables = tables.encoded(is_whole=is_whole)
        return outcome


def unread_outcome(task: FragmentTask, reason: str) -> FragmentOutcome:
    """The outcome of an unreadable fragment; the next run tries it again."""
    tables = FragmentTables(task.fragment, task.choices.columns.keep)
    row = UnreadableStream(WHOLE_FRAGMENT, task.fragment.path, reason)
    tables.add_unreadable(row)
    where = Storage(task.source).shown(task.fragment.path)
    return FragmentOutcome(
        unreadable=1,
        size=task.fragment.size,
        faults=(_fault_text(row, where),),
        tables=tables.encoded(is_whole=False),
    )


def _judge_for(task: FragmentTask) -> CorpusJudge:
    """Raises UsageError where this machine's files give other rules than the driver's do."""
    judge = CorpusJudge(task.choices)
    if task.rules not in ("", judge.rules_hash):
        message = "a worker has other rules than this process: its verdicts would be others"
        raise UsageError(message, hint="give every node the same version, and the same suites")
    return judge


def _fault_text(row: UnreadableStream, where: str) -> str:
    """Why a row is not judged; a fault of a whole file needs no id."""
    is_file = row.path or row.row == WHOLE_FRAGMENT
    return f"{where}: {row.reason}" if is_file else f"{where}: {row.id}: {row.reason}"


def _row_to_judge(row: FragmentRow, task: FragmentTask) -> FragmentRow:
    """The row, or why it is not to be judged."""
    if task.kind != "name" and row.row not in task.aside:
        return row
    return UnreadableStream(row.row, row.id, KILLED, row.path)


def read_streams(
    storage: Storage, fragment: Fragment, choices: JudgeChoices
) -> Iterator[FragmentRow]:
    """The rows of a fragment. What ends it early is a separate row, WHOLE_FRAGMENT."""
    if fragment.fault:
        yield UnreadableStream(WHOLE_FRAGMENT, fragment.path, fragment.fault)
        return
    try:
        if fragment.kind == "files":
            yield from _file_streams(storage, fragment, choices)
        else:
            yield from _row_streams(storage, fragment, choices)
    except SpecError:
        raise
    except ConformanceError as err:
        yield UnreadableStream(WHOLE_FRAGMENT, fragment.path, err.message)
    except Exception as err:
        if is_debugging():
            raise
        yield UnreadableStream(WHOLE_FRAGMENT, fragment.path, f"internal error: {fault_of(err)}")


def _row_streams(
    storage: Storage, fragment: Fragment, choices: JudgeChoices
) -> Iterator[FragmentRow]:
    columns = choices.columns
    source = Path(storage.full_path(fragment.path))
    place = f"{fragment.path}:{fragment.part}"
    fixed = path_values(fragment.path)
    if fragment.kind == "parquet":
        for at, values in enumerate(read_parquet_rows(storage, fragment, columns)):
            large = _too_large(values, columns, at, place)
            yield large or row_stream({**fixed, **values}, columns, at, source, place)
        return
    for at, line in read_json_rows(storage, fragment.path, fragment.part, fragment.size, columns):
        if isinstance(line, str):
            yield UnreadableStream(at, f"{place}#{at}", line)
        elif value_at(line, columns.body) is None:
            name = value_at(line, columns.id) or f"{place}#{at}"
            missing = f"it has no {columns.body!r}" if columns.body not in line else ""
            yield UnreadableStream(at, str(name), missing or "the body is null")
        else:
            yield row_stream({**fixed, **line}, columns, at, source, place)


def _too_large(
    values: Mapping[str, Any], columns: ColumnNames, row: int, place: str
) -> UnreadableStream | None:
    """Why a row is put aside, where one of its values is too large; else None."""
    for name, value in values.items():
        if isinstance(value, str | bytes) and len(value) > MAX_VALUE:
            known = values.get(columns.id) if name != columns.id else None
            id_ = known if isinstance(known, str) and known else f"{place}#{row}"
            unit = "bytes" if isinstance(value, bytes) else "characters"
            reason = f"its {name!r} has {len(value):,} {unit}, more than {MAX_VALUE:,}: not judged"
            return UnreadableStream(row, id_, reason)
    return None


def _file_streams(
    storage: Storage, fragment: Fragment, choices: JudgeChoices
) -> Iterator[FragmentRow]:
    for at, path in enumerate(fragment.files):
        try:
            with storage.local_copy(path) as local:
                recording = open_recording(local, dialect=choices.dialect)
                size = local.stat().st_size
                yield recording_stream(recording, at, path, size, choices.columns)
        except SpecError:
            raise
        except ConformanceError as err:
            yield UnreadableStream(at, path, err.message, path)
        except (OSError, ValueError) as err:
            yield UnreadableStream(at, path, f"cannot be read: {err}", path)
