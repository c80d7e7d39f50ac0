"""The tables that a corpus gives: verdicts, findings, what was not readable, and wire shapes.

Every row names its stream by `file`, `part` and `row`, so that the body can be found again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from conformance.core.excerpts import clipped, redacted
from conformance.corpus.arrow import load_module
from conformance.corpus.fragments import Fragment
from conformance.corpus.judge import JudgedStream
from conformance.corpus.rows import CorpusStream, UnreadableStream, week_of
from conformance.judging.group_id import group_id, message_without_values
from conformance.judging.groups import every_group, finding_groups
from conformance.judging.result import Finding, Report, StreamResult, silenced_rules
from conformance.recordings.redacted_result import Clean, redact_result
from conformance.rules.verdicts import Verdict

TABLES: Final = ("verdicts", "findings", "unreadable", "shapes")
STAMP: Final = b"source_stamp"
IS_WHOLE: Final = b"is_whole"
_OF_STREAMS: Final = frozenset({"verdicts", "findings"})
_MOST_SHARED: Final = 256  # of what many streams share
_MOST_TEXT: Final = 200  # characters of a value that is kept
_KEPT: Final = "kept_"

_PLACE: Final = (("id", "string"), ("file", "word"), ("part", "int64"), ("row", "int32"))
_POPULATION: Final = (
    ("dialect", "word"),
    ("provider", "word"),
    ("model", "word"),
    ("week", "word"),
)
_STREAM: Final = (
    *_PLACE,
    ("exchange", "int32"),
    ("view", "word"),
    *_POPULATION,
    ("profile", "word"),
    ("time", "time"),
)
_COUNTS: Final = {
    "passed": Verdict.PASS,
    "failed": Verdict.FAIL,
    "vacuous": Verdict.VACUOUS,
    "inconclusive": Verdict.INCONCLUSIVE,
    "untestable": Verdict.UNTESTABLE,
    "not_applicable": Verdict.NOT_APPLICABLE,
    "errors": Verdict.ERROR,
}
SCHEMAS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "verdicts": (
        *_STREAM,
        ("found", "word"),
        ("bytes", "int64"),
        ("framing", "word"),
        *((name, "int32") for name in _COUNTS),
        ("findings", "int32"),
        ("failed_rules", "words"),
        ("passed_rules", "word"),
        ("silenced_rules", "words"),
        ("first_rule", "word"),
        ("first_event", "int32"),
        ("first_message", "string"),
        ("error", "word"),
    ),
    "findings": (
        *_STREAM,
        ("bytes", "int64"),
        ("rule", "word"),
        ("level", "word"),
        ("verdict", "word"),
        ("event", "int32"),
        ("byte", "int64"),
        ("slice", "string"),
        ("expected", "words"),
        ("got", "word"),
        ("after", "word"),
        ("message", "string"),
        ("shape", "word"),
        ("finding", "word"),
        ("group", "word"),
        ("cause", "word"),
    ),
    "unreadable": (*_PLACE, ("reason", "string")),
    "shapes": (*_POPULATION, ("kind", "word"), ("what", "string"), ("streams", "int32")),
}


def kept_column(name: str) -> str:
    """What a kept column of the source is called in `verdicts` and `findings`."""
    return f"{_KEPT}{name}"


class FragmentTables(Struct):
    """The rows of one fragment, column by column; `keep` are further columns of the source."""

    fragment: Fragment
    keep: tuple[str, ...] = ()
    columns: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    clean: Clean = redacted
    _counted: dict[int, tuple[Mapping[str, Verdict], dict[str, Any]]] = field(default_factory=dict)
    _cleaned: dict[str, str] = field(default_factory=dict)

    def add_judged(self, judged: JudgedStream) -> None:
        for result in judged.results:
            dims = self._stream_values(judged.stream, result)
            counts = self._counts(result.verdicts)
            is_quoting = bool(result.findings or result.error)
            shown = redact_result(result, self.clean) if is_quoting else result
            self._add_row("verdicts", {**dims, **counts, **verdict_values(judged.stream, shown)})
            causes = _group_causes(shown) if shown.findings else {}
            for finding in shown.findings:
                values = finding_values(finding, causes)
                self._add_row("findings", {**dims, "bytes": judged.stream.size, **values})

    def add_unreadable(self, row: UnreadableStream) -> None:
        """Takes a row that was not judged."""
        values = {**self._place(row.row, row.id, row.path), "reason": self.clean(row.reason)}
        self._add_row("unreadable", values)

    def add_shapes(self, population: Sequence[str], counts: Mapping[tuple[str, str], int]) -> None:
        """Takes what streams of one population looked like: kind and what -> number of streams."""
        names = [name for name, _ in _POPULATION]
        dims = dict(zip(names, map(self._word, population), strict=True))
        for (kind, what), streams in sorted(counts.items()):
            self._add_row("shapes", {**dims, "kind": kind, "what": what, "streams": streams})

    def row_count(self, table: str) -> int:
        return len(next(iter(self.columns.get(table, {"": []}).values())))

    def encoded(self, *, is_whole: bool) -> dict[str, bytes]:
        """The tables as Parquet files; those without rows are left out, except the verdicts."""
        kept = [name for name in TABLES if name == "verdicts" or self.row_count(name)]
        about = {STAMP: self.fragment.stamp.encode(), IS_WHOLE: b"1" if is_whole else b"0"}
        return {
            name: encode_table(table_schema(name, self.keep), self.columns.get(name, {}), about)
            for name in kept
        }

    def _add_row(self, table: str, values: Mapping[str, Any]) -> None:
        columns = self.columns.get(table)
        if columns is None:
            names = table_columns(table, self.keep)
            columns = self.columns[table] = {name: [] for name, _ in names}
        for name, column in columns.items():
            column.append(values[name])

    def _counts(self, verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
        """As `verdict_counts`; streams that are alike share their verdicts, which are kept."""
        known = self._counted.get(id(verdicts))
        if known is None:
            if len(self._counted) >= _MOST_SHARED:
                self._counted.clear()
            known = self._counted[id(verdicts)] = verdicts, verdict_counts(verdicts)
        return known[1]

    def _word(self, text: str) -> str:
        """A text that many streams share, without secrets."""
        known = self._cleaned.get(text)
        if known is None:
            if len(self._cleaned) >= _MOST_SHARED:
                self._cleaned.clear()
            known = self._cleaned[text] = self.clean(text)
        return known

    def _place(self, row: int, name: str, path: str) -> dict[str, Any]:
        in_files = bool(path)
        return {
            "id": name,
            "file": path or self.fragment.path,
            "part": self.fragment.part,
            "row": 0 if in_files and row >= 0 else row,
        }

    def _stream_values(self, stream: CorpusStream, result: StreamResult) -> dict[str, Any]:
        kept = zip(map(kept_column, self.keep), map(self._word, stream.kept), strict=True)
        return {
            **self._place(stream.row, stream.id, stream.path),
            **{name: clipped(text, _MOST_TEXT) for name, text in kept},
            "exchange": result.exchange,
            "view": result.view,
            "dialect": result.dialect,
            "profile": result.profile,
            "provider": self._word(stream.provider),
            "model": self._word(stream.model),
            "week": week_of(stream.time),
            "time": stream.time,
        }


def verdict_counts(verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """The columns of `verdicts` that hang on the verdicts of a stream alone."""
    by_verdict: dict[Verdict, list[str]] = {verdict: [] for verdict in _COUNTS.values()}
    for rule, verdict in verdicts.items():
        by_verdict[verdict].append(rule)
    return {
        **{name: len(by_verdict[verdict]) for name, verdict in _COUNTS.items()},
        "failed_rules": sorted(by_verdict[Verdict.FAIL]),
        "passed_rules": " ".join(sorted(by_verdict[Verdict.PASS])),
    }


def verdict_values(stream: CorpusStream, result: StreamResult) -> dict[str, Any]:
    """The other columns of `verdicts` that say what came of a stream."""
    first = result.findings[0] if result.findings else None
    return {
        "found": how_found(result),
        "bytes": stream.size,
        "framing": result.framing,
        "findings": len(result.findings),
        "silenced_rules": sorted(silenced_rules(result)),
        "first_rule": first.rule if first else None,
        "first_event": first.event if first else None,
        "first_message": first.message if first else None,
        "error": result.error and (result.error.code or "error"),
    }


def how_found(result: StreamResult) -> str:
    """How the profile was found: `named`, `identified` by signs, or `assumed`."""
    if result.named:
        return "named"
    return "assumed" if result.profile == "strict" else "identified"


def finding_values(finding: Finding, causes: Mapping[str, str]) -> dict[str, Any]:
    """The columns of `findings` that say what was found."""
    group = group_id(finding)
    return {
        "rule": finding.rule,
        "level": finding.level.value,
        "verdict": finding.verdict.value,
        "event": finding.event,
        "byte": finding.byte,
        "slice": msgspec.json.encode(finding.slice).decode(),
        "expected": list(finding.expected),
        "got": finding.got,
        "after": finding.after,
        "message": finding.message,
        "shape": message_without_values(finding),
        "finding": finding.id,
        "group": group,
        "cause": causes.get(group, group),
    }


def _group_causes(result: StreamResult) -> dict[str, str]:
    """By group of findings of a stream the one that it follows; itself where it follows none."""
    heads = finding_groups(Report((result,)))
    return {each.id: head.id for head in heads for each in every_group((head,))}


def encode_table(
    schema: Any, columns: Mapping[str, list[Any]], about: Mapping[bytes, bytes]
) -> bytes:
    """A table as the bytes of a Parquet file: the same bytes for the same rows."""
    arrow = load_module("pyarrow")
    schema = schema.with_metadata(about)
    arrays = [arrow.array(columns.get(each.name, []), each.type) for each in schema]
    sink = arrow.BufferOutputStream()
    table = arrow.Table.from_arrays(arrays, schema=schema)
    load_module("pyarrow.parquet").write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def table_columns(table: str, keep: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The columns of a table and what they hold, with those that are kept of the source."""
    kept = ((kept_column(name), "word") for name in keep)
    return (*SCHEMAS[table], *kept) if table in _OF_STREAMS else SCHEMAS[table]


def table_schema(name: str, keep: Sequence[str] = ()) -> Any:
    arrow = load_module("pyarrow")
    word = arrow.dictionary(arrow.int32(), arrow.string())
    kinds = {
        "string": arrow.string(),
        "word": word,
        "words": arrow.list_(arrow.string()),
        "int32": arrow.int32(),
        "int64": arrow.int64(),
        "time": arrow.timestamp("us", "UTC"),
    }
    return arrow.schema([(column, kinds[kind]) for column, kind in table_columns(name, keep)])
