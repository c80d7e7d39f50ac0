"""Corpora to edit: JSON lines, rows of tools that keep payloads, and Parquet."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from conformance.corpus.columns import ColumnNames
from conformance.corpus.fragment_work import read_streams
from conformance.corpus.fragments import find_fragments
from conformance.corpus.judge import CorpusJudge
from conformance.corpus.rows import UnreadableStream
from conformance.corpus.storage import Storage

_BODY: Final = (
    'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":'
    '0,"delta":{"role":"assistant","content":"x"},"finish_reason":null}]}\n\ndata: [DONE]\n\n'
)
_ROW: Final[dict[str, Any]] = {
    "id": "s1",
    "body": _BODY,
    "provider": "north",
    "model": "m",
    "dialect": "openai.chat",
    "time": "2026-11-02T10:00:00Z",
    "profile": "strict",
    "request": {"stream": True},
    "status": 200,
    "headers": {"content-type": "text/event-stream"},
}
_LITELLM: Final[dict[str, Any]] = {
    "id": "l1",
    "call_type": "x",
    "response_cost": 0.1,
    "messages": [],
    "model": "m",
    "response": {"response": _BODY},
    "custom_llm_provider": "north",
    "startTime": 1.5e9,
}
_LANGFUSE: Final[dict[str, Any]] = {
    "id": "f1",
    "trace_id": "t",
    "type": "GENERATION",
    "input": {"model": "m"},
    "output": _BODY,
    "start_time": "2026-11-02 10:00:00.1",
}
_SPAN: Final[dict[str, Any]] = {
    "spanId": "o1",
    "startTimeUnixNano": "1762000000000000000",
    "attributes": [
        {"key": "http.response.body", "value": {"stringValue": _BODY}},
        {"key": "gen_ai.request.model", "value": {"stringValue": "m"}},
    ],
}
_OTLP: Final[dict[str, Any]] = {"resourceSpans": [{"scopeSpans": [{"spans": [_SPAN]}]}]}


def row_sources() -> list[tuple[str, bytes]]:
    """JSON lines, alone and several."""
    rows = (_ROW, _LITELLM, _LANGFUSE, _OTLP)
    lines = [json.dumps(each).encode() + b"\n" for each in rows]
    return [("in.jsonl", one) for one in lines] + [("in.jsonl", lines[0] + each) for each in lines]


def parquet_sources() -> list[tuple[str, bytes]]:
    """Small files, packed or not."""
    names = ("id", "body", "provider", "model", "dialect")
    values = [{name: _ROW[name] for name in names} | {"id": f"s{n}"} for n in range(4)]
    found = []
    for packed in ("none", "zstd"):
        into = io.BytesIO()
        table = pa.Table.from_pylist(values)
        pq.write_table(table, into, compression=packed, row_group_size=2)
        found.append(("in.parquet", into.getvalue()))
    return found


def read_rows(name: str, data: bytes, _: Random, folder: Path) -> None:
    """Reads and judges every row. Raises UsageError, SpecError, and what nobody documents."""
    path = folder / name
    path.write_bytes(data)
    judge, storage = _judge(), Storage(str(path))
    for fragment in find_fragments(storage, ColumnNames()):
        for row in judge.judge_streams(tuple(read_streams(storage, fragment, judge.choices))):
            if isinstance(row, UnreadableStream) and row.reason.startswith("internal error"):
                raise AssertionError(row.reason)


@cache
def _judge() -> CorpusJudge:
    return CorpusJudge()
