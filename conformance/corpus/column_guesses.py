"""Which columns of somebody else's file may hold what: a beginning for a mapping file.

A body is known by how it begins, everything else by words in the column's name. It is a proposal
for people: nothing is judged by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.corpus.columns import ColumnNames, value_at
from conformance.corpus.stored_payloads import begins_like_stream

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
