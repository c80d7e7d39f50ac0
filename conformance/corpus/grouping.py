"""The findings of a corpus grouped: by cause, and by columns of the streams.

Arrow groups the rows, column by column. A group of findings is listed below another one that it
follows from (`judging.groups`); the severest level comes first, then the most frequent group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from conformance.core.errors import UsageError
from conformance.corpus.arrow import load_module
from conformance.corpus.output import CorpusAbout, read_about, read_table, repeated_ids
from conformance.corpus.tables import kept_column
from conformance.corpus.wire_changes import WireHistory, wire_history
from conformance.rules.verdicts import Level

BY: Final = ("provider", "model", "week")
GROUPABLE: Final = ("dialect", "profile", "provider", "model", "week", "file", "view", "found")
STREAM: Final = ("id", "file", "part", "row", "exchange", "view")
"""The columns that say which stream a row is of: the fields of `StreamPlace` except the event."""
_CAUSE: Final = ("group", "cause", "rule", "level", "verdict", "shape")
_LEVELS: Final = {level.value: rank for rank, level in enumerate(Level)}
_REASONS: Final = 20
_SHAPES: Final = ("dialect", "provider", "model", "week", "kind", "what", "streams")


class CellCount(Struct, frozen=True):
    """Streams with a group of findings among the `of` that share the values of some columns."""

    values: tuple[str, ...]
    streams: int
    of: int
    first: datetime | None = None
    last: datetime | None = None

    @property
    def rate(self) -> float:
        return self.streams / self.of if self.of else 0.0


class StreamPlace(Struct, frozen=True):
    """Where a stream is in the source, and the event of the finding that it is shown for."""

    id: str
    file: str
    part: int
    row: int
    exchange: int
    view: str
    event: int

    @property
    def title(self) -> str:
        """For people: the stream, its file where that has another name, the event."""
        held = "" if self.id == self.file else f" ({self.file})"
        return f"{self.id}{held}, event {self.event}"


class FollowingGroup(Struct, frozen=True):
    """Findings that followed from those of a group, in so many streams."""

    group: str
    rule: str
    message: str
    streams: int


class CauseGroup(Struct, frozen=True):
    """Findings of one cause: how often, where, since when, and one stream to look at."""

    group: str
    rule: str
    level: str
    verdict: str
    message: str
    streams: int
    findings: int
    first: datetime | None
    last: datetime | None
    cells: tuple[CellCount, ...]
    exemplar: StreamPlace
    following: tuple[FollowingGroup, ...] = ()


class CorpusReport(Struct, frozen=True):
    """The report over a checked corpus.

    `by` are the columns of the cells; `left_out` counts streams without a time, or before the
    chosen one; `reasons` are those of unreadable rows.
    """

    about: CorpusAbout
    by: tuple[str, ...]
    since: datetime | None
    streams: int
    bytes: int
    with_findings: int
    groups: tuple[CauseGroup, ...]
    history: WireHistory
    unreadable: int
    reasons: tuple[tuple[str, int], ...]
    repeated_ids: tuple[tuple[str, int], ...]
    left_out: int = 0
    first: datetime | None = None
    last: datetime | None = None


def corpus_report(
    folder: Path, by: Sequence[str] = BY, since: datetime | None = None
) -> CorpusReport:
    """The report of an output folder. Raises UsageError for a folder or a column that is none."""
    about = read_about(folder)
    names = tuple(dict.fromkeys(by))
    columns = _grouped_columns(names, about.choices.columns.keep)
    verdicts = read_table(folder, "verdicts", _columns_to_read(columns, "findings", "bytes"))
    if not verdicts.num_rows and not about.is_complete:
        raise UsageError(f"{folder}: nothing is judged yet")
    findings = read_table(folder, "findings", _columns_to_read(columns, "bytes", "event", *_CAUSE))
    timed, found = _rows_since(verdicts, since), _rows_since(findings, since)
    compute = load_module("pyarrow.compute")
    unreadable = read_table(folder, "unreadable", ("reason",))
    bounds = compute.min_max(timed["time"]).as_py()
    return CorpusReport(
        about,
        names,
        since,
        timed.num_rows,
        compute.sum(timed["bytes"]).as_py() or 0,
        compute.sum(compute.greater(timed["findings"], 0)).as_py() or 0,
        _cause_groups(found, timed, columns),
        wire_history(read_table(folder, "shapes", _SHAPES), since),
        unreadable.num_rows,
        _most_frequent(unreadable, "reason", _REASONS),
        repeated_ids(verdicts),
        verdicts.num_rows - timed.num_rows if since else 0,
        bounds["min"],
        bounds["max"],
    )


def _grouped_columns(by: Sequence[str], keep: Sequence[str]) -> tuple[str, ...]:
    """What the columns to group by are called in the tables. Raises UsageError for one of none."""
    there = dict(zip(GROUPABLE, GROUPABLE, strict=True))
    there |= {name: kept_column(name) for name in keep}
    for name in by:
        if name not in there:
            message = f"no column {name!r} to group by; there are {', '.join(there)}"
            raise UsageError(message, hint="`corpus check --keep COLUMN` keeps others of a source")
    return tuple(there[name] for name in by)


def _columns_to_read(columns: Sequence[str], *names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*STREAM, "time", *columns, *names)))


def _rows_since(table: Any, since: datetime | None) -> Any:
    if since is None:
        return table
    arrow, compute = load_module("pyarrow"), load_module("pyarrow.compute")
    start = arrow.scalar(since, arrow.timestamp("us", "UTC"))
    return table.filter(compute.greater_equal(table["time"], start))


def _most_frequent(table: Any, column: str, most: int) -> tuple[tuple[str, int], ...]:
    counted = load_module("pyarrow.compute").value_counts(table[column]).to_pylist()
    ordered = sorted(counted, key=lambda each: (-each["counts"], each["values"]))
    return tuple((each["values"], each["counts"]) for each in ordered[:most])


def _cause_groups(findings: Any, verdicts: Any, by: tuple[str, ...]) -> tuple[CauseGroup, ...]:
    keys = list(dict.fromkeys((*_CAUSE, *STREAM, "bytes", "time", *by)))
    counted = findings.group_by(keys).aggregate([("event", "min"), ("event", "count")])
    compute = load_module("pyarrow.compute")
    leading = compute.equal(counted["group"], counted["cause"])
    leads = counted.filter(leading)
    following = _following_groups(counted.filter(compute.invert(leading)))
    cells = _group_cells(leads, verdicts, by)
    exemplars = _shortest_streams(leads)
    whole = leads.group_by(["group", "rule", "level", "verdict", "shape"]).aggregate(
        [("row", "count"), ("event_count", "sum"), ("time", "min"), ("time", "max")]
    )
    groups = [
        CauseGroup(
            each["group"],
            each["rule"],
            each["level"],
            each["verdict"],
            each["shape"],
            each["row_count"],
            each["event_count_sum"],
            each["time_min"],
            each["time_max"],
            cells[each["group"]],
            exemplars[each["group"]],
            following.get(each["group"], ()),
        )
        for each in whole.to_pylist()
    ]
    return tuple(sorted(groups, key=_gravity_key))


def _gravity_key(group: CauseGroup) -> tuple[bool, int, int, str]:
    return group.verdict != "ERROR", _LEVELS.get(group.level, 9), -group.streams, group.group


def _group_cells(
    leads: Any, verdicts: Any, by: tuple[str, ...]
) -> dict[str, tuple[CellCount, ...]]:
    of = {
        tuple(each[name] or "" for name in by): each["row_count"]
        for each in verdicts.group_by(list(by)).aggregate([("row", "count")]).to_pylist()
    }
    counted = leads.group_by(["group", *by]).aggregate(
        [("row", "count"), ("time", "min"), ("time", "max")]
    )
    cells: dict[str, list[CellCount]] = {}
    for each in counted.to_pylist():
        values = tuple(each[name] or "" for name in by)
        cell = CellCount(values, each["row_count"], of[values], each["time_min"], each["time_max"])
        cells.setdefault(each["group"], []).append(cell)
    return {group: tuple(sorted(some, key=lambda c: c.values)) for group, some in cells.items()}


def _shortest_streams(leads: Any) -> dict[str, StreamPlace]:
    """By group the shortest stream that has it."""
    return {
        each["group"]: stream_place(each, each["event_min"])
        for each in shortest_streams(leads, ("group",), "event_min")
    }


def stream_place(row: Mapping[str, Any], event: int) -> StreamPlace:
    values = {**{name: row[name] for name in STREAM}, "event": event}
    return StreamPlace(**values)


def shortest_streams(table: Any, keys: Sequence[str], *more: str) -> list[dict[str, Any]]:
    """Of the rows that share the values of `keys` the shortest: where it is, and `more`."""
    order = [(name, "ascending") for name in (*keys, "bytes", *STREAM)]
    first = table.sort_by(order).group_by(list(keys), use_threads=False)
    found = first.aggregate([(name, "first") for name in (*STREAM, *more)])
    names = [name.removesuffix("_first") for name in found.column_names]
    rows: list[dict[str, Any]] = found.rename_columns(names).to_pylist()
    return rows


def _following_groups(followers: Any) -> dict[str, tuple[FollowingGroup, ...]]:
    counted = followers.group_by(["cause", "group", "rule", "shape"]).aggregate([("row", "count")])
    found: dict[str, list[FollowingGroup]] = {}
    for each in counted.to_pylist():
        one = FollowingGroup(each["group"], each["rule"], each["shape"], each["row_count"])
        found.setdefault(each["cause"], []).append(one)
    return {
        cause: tuple(sorted(some, key=lambda g: (-g.streams, g.group)))
        for cause, some in found.items()
    }
