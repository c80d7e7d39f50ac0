"""Batches of rows judged inside another engine: a table in, a table of as many rows out."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.excerpts import redacted
from conformance.corpus.arrow import load_module
from conformance.corpus.columns import check_columns
from conformance.corpus.judge import CorpusJudge, JudgedStream
from conformance.corpus.parquet_rows import batch_rows
from conformance.corpus.rows import UnreadableStream
from conformance.corpus.tables import verdict_counts, verdict_values
from conformance.recordings.redacted_result import redact_result

# Plain types, which every engine reads.
_COLUMNS: Final = (
    ("id", "string"),
    ("dialect", "string"),
    ("profile", "string"),
    ("found", "string"),
    ("provider", "string"),
    ("model", "string"),
    ("bytes", "int64"),
    *((name, "int32") for name in ("passed", "failed", "vacuous", "inconclusive", "untestable")),
    ("not_applicable", "int32"),
    ("errors", "int32"),
    ("findings", "int32"),
    ("failed_rules", "list"),
    ("first_rule", "string"),
    ("first_event", "int32"),
    ("first_message", "string"),
    ("unreadable", "string"),
)


def check_batch(judge: CorpusJudge, batch: Any) -> Any:
    """The verdicts of a pyarrow Table or RecordBatch of rows, as a Table in the same order.

    A row that cannot be judged has the reason in `unreadable`, which is null for all others.
    Raises UsageError where the batch has no column of bodies.
    """
    arrow = load_module("pyarrow")
    check_columns(judge.choices.columns, batch.schema.names, "the batch")
    parts = batch.to_batches() if isinstance(batch, arrow.Table) else [batch]
    rows = (row for part in parts for row in batch_rows(part, judge.choices.columns.body))
    judged = [_row_values(judge.judge_row(row, at, "batch")) for at, row in enumerate(rows)]
    schema = batch_schema()
    arrays = [arrow.array([each.get(f.name) for each in judged], f.type) for f in schema]
    return arrow.Table.from_arrays(arrays, schema=schema)


def batch_schema() -> Any:
    """The Arrow schema of what `check_batch` gives."""
    arrow = load_module("pyarrow")
    kinds = {
        "string": arrow.string(),
        "int32": arrow.int32(),
        "int64": arrow.int64(),
        "list": arrow.list_(arrow.string()),
    }
    return arrow.schema([(name, kinds[kind]) for name, kind in _COLUMNS])


def _row_values(judged: JudgedStream | UnreadableStream) -> dict[str, Any]:
    if isinstance(judged, UnreadableStream):
        return {"id": judged.id, "unreadable": judged.reason}
    stream, result = judged.stream, judged.results[0]
    if result.findings:
        result = redact_result(result, redacted)
    about = {"id": stream.id, "provider": stream.provider, "model": stream.model}
    judged_by = {"dialect": result.dialect, "profile": result.profile}
    counts = verdict_counts(result.verdicts)
    return {**counts, **verdict_values(stream, result), **about, **judged_by}
