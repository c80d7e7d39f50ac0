"""What a source seems to hold, by its first rows, without waiting for all of it.

It also guesses which columns may hold which part of a stream, as a start for a mapping file: a body
by its beginning, everything else by words in the column's name. The guesses are for people: nothing
is judged by them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from conformance.corpus.columns import ColumnNames, top_name, value_at
from conformance.corpus.fragment_work import read_streams
from conformance.corpus.fragments import Fragment, find_fragments, open_parquet
from conformance.corpus.json_rows import first_row, is_json_rows
from conformance.corpus.judge import CorpusJudge, JudgeChoices, JudgedStream
from conformance.corpus.parquet_rows import group_rows
from conformance.corpus.rows import UnreadableStream
from conformance.corpus.storage import Storage, absolute_source
from conformance.corpus.stored_payloads import begins_like_stream
from conformance.corpus.tables import how_found
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.rules.verdicts import Verdict

_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id", "uuid"),
    "request": ("request", "req"),
    "status": ("status",),
    "headers": ("headers",),
    "provider": ("provider", "vendor"),
    "model": ("model",),
    "session": ("session", "conversation", "thread"),
    "time": ("time", "timestamp", "ts", "date", "created", "started"),
}
_SPLIT: Final = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_DEPTH: Final = 3  # of structs that are looked into
_BEGINNING: Final = 64


def guess_columns(row: Mapping[str, Any], columns: ColumnNames) -> dict[str, str]:
    """By part of a stream that a row lacks the column which may hold it."""
    values = dict(_inner_values(row))
    missing = [part for part, column in columns.pairs if value_at(row, column) is None]
    found: dict[str, str] = {}
    for part in missing:
        taken = {*found.values(), *(column for _, column in columns.chosen)}
        free = (name for name in values if name not in taken)
        name = next((each for each in free if _may_hold(part, each, values[each])), None)
        if name is not None:
            found[part] = name
    return found


def _inner_values(row: Mapping[str, Any], before: str = "", depth: int = 1) -> Iterator[Any]:
    """Columns with their values, those inside of others by a path with dots."""
    for name, value in row.items():
        path = f"{before}{name}"
        if isinstance(value, Mapping) and depth < _DEPTH:
            yield from _inner_values(value, f"{path}.", depth + 1)
        elif value is not None:
            yield path, value


def _may_hold(part: str, name: str, value: Any) -> bool:
    if part == "body":
        if isinstance(value, bytes):
            value = value[:_BEGINNING].decode("utf-8", "replace")
        return isinstance(value, str) and begins_like_stream(value[:_BEGINNING])
    words = {each.lower() for each in _SPLIT.split(name.rpartition(".")[2])}
    return not words.isdisjoint(_WORDS.get(part, ()))


ROWS: Final = 5
_FRAGMENTS: Final = 1000  # that are counted
_KINDS: Final = {"parquet": "Parquet", "json": "JSON lines", "files": "recordings"}


class SourceInspection(Struct, frozen=True):
    """The result: `columns` of the first file with their types, `rows` judged or not.

    `guesses` are columns that may hold the missing parts of streams.
    """

    source: str
    fragments: int
    is_more: bool
    first: Fragment
    columns: tuple[tuple[str, str], ...]
    rows: tuple[JudgedStream | UnreadableStream, ...]
    guesses: tuple[tuple[str, str], ...] = ()


def inspect_source(source: str, choices: JudgeChoices) -> SourceInspection:
    """Looks at the first rows of a source. Raises UsageError where there are none."""
    storage = Storage(absolute_source(source))
    fragments = list(islice(find_fragments(storage, choices.columns), _FRAGMENTS + 1))
    if not fragments:
        raise storage.error("holds no recorded streams that are read")
    first, judge = fragments[0], CorpusJudge(choices)
    rows = islice(read_streams(storage, first, choices), ROWS)
    judged = tuple(judge.judge_stream(row) for row in rows)
    is_recording = first.kind == "files" and any(isinstance(row, JudgedStream) for row in judged)
    has_columns = not first.fault and not is_recording
    plain = _plain_rows(storage, first) if has_columns else ()
    return SourceInspection(
        storage.shown(),
        min(len(fragments), _FRAGMENTS),
        len(fragments) > _FRAGMENTS,
        first,
        tuple(_file_columns(storage, first)) if has_columns else (),
        judged,
        _column_guesses(islice(plain, ROWS), choices.columns),
    )


def _column_guesses(
    rows: Iterable[Mapping[str, Any]], columns: ColumnNames
) -> tuple[tuple[str, str], ...]:
    """Of the row that shows most: a body may be null."""
    guessed = (tuple(guess_columns(row, columns).items()) for row in rows)
    return max(guessed, key=len, default=())


def _plain_rows(storage: Storage, fragment: Fragment) -> Iterator[Mapping[str, Any]]:
    """First rows of a file as they are, whether they are of streams or not."""
    if fragment.kind == "parquet":
        with open_parquet(storage, fragment.path) as parquet:
            names = parquet.schema_arrow.names
            yield from group_rows(storage, fragment, parquet, names, body="")
    elif is_json_rows(fragment.path.lower()) and (row := first_row(storage, fragment.path)):
        yield row


def _file_columns(storage: Storage, fragment: Fragment) -> Iterator[tuple[str, str]]:
    if fragment.kind == "parquet":
        with open_parquet(storage, fragment.path) as parquet:
            for each in parquet.schema_arrow:
                yield each.name, str(each.type)
    else:
        for row in _plain_rows(storage, fragment):
            for name, value in row.items():
                yield name, type(value).__name__


def inspection_text(found: SourceInspection, columns: ColumnNames) -> str:
    """The result as text for people."""
    return "\n".join(_inspection_lines(found, columns)) + "\n"


def _inspection_lines(found: SourceInspection, columns: ColumnNames) -> Iterator[str]:
    more = "more than " if found.is_more else ""
    yield f"{visible(found.source)}: {more}{count(found.fragments, 'part')}"
    first = found.first
    yield f"first: {visible(first.path)} ({_KINDS[first.kind]}, {first.size:,} bytes)"
    if found.columns:
        yield "columns"
        used = dict.fromkeys(map(top_name, columns.keep), "kept")
        used |= {top_name(column): part for part, column in columns.pairs}
        for name, kind in found.columns:
            yield f"  {visible(name):<24} {visible(kind, 60):<24} {used.get(name, '-')}"
        there = {name for name, _ in found.columns}
        missing = [part for part, column in columns.pairs if top_name(column) not in there]
        if missing:
            yield f"missing: {', '.join(missing)} (--map FILE maps other names)"
    if found.guesses:
        yield "perhaps (a beginning for FILE)"
        yield from (visible(f"  {part}: {column}") for part, column in found.guesses)
    yield f"first {count(len(found.rows), 'row')}"
    for row in found.rows:
        yield from (f"  {line}" for line in _row_lines(row))


def _row_lines(row: JudgedStream | UnreadableStream) -> Iterator[str]:
    if isinstance(row, UnreadableStream):
        yield f"{visible(row.id)}: not readable: {visible(row.reason)}"
        return
    stream = row.stream
    for result in row.results:
        facts = [f"{stream.size:,} bytes", result.dialect]
        facts.append(f"profile {result.profile} ({how_found(result)})")
        facts += [each for each in (stream.provider, stream.model) if each]
        facts += [stream.time.isoformat()] if stream.time else []
        verdicts = list(result.verdicts.values())
        facts.append(f"{verdicts.count(Verdict.PASS)} rules pass")
        facts.append(count(len(result.findings), "finding"))
        yield visible(f"{stream.id}: {', '.join(facts)}")
