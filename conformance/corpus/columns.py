"""Which column of a source holds what: by its usual name, or as a mapping file says."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from conformance.core.errors import Place, UsageError
from conformance.rules import document

_SHOWN: Final = 12  # columns that are named where none fits
_MAPPING: Final = "--map FILE names it; `conformance corpus inspect` proposes what to write there"


class ColumnNames(Struct, frozen=True, omit_defaults=True, dict=True):
    """The column of each part of a stream; a dot leads into a struct or a JSON object.

    `body` holds the response body (text or bytes), `request` the JSON that was asked, `headers`
    those of the response. `chunks` holds `[[ms, bytes], ...]`: milliseconds since the chunk
    before, and the number of bytes. `end` says how the stream ended, in the words of a cassette.
    """

    body: str = "body"
    id: str = "id"
    request: str = "request"
    status: str = "status"
    headers: str = "headers"
    chunks: str = "chunks"
    end: str = "end"
    dialect: str = "dialect"
    profile: str = "profile"
    provider: str = "provider"
    model: str = "model"
    time: str = "time"

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a column holds, and its name."""
        return tuple((name, getattr(self, name)) for name in self.__struct_fields__)

    @property
    def chosen(self) -> tuple[tuple[str, str], ...]:
        """Those that a mapping names otherwise than usual."""
        usual = ColumnNames()
        return tuple(pair for pair in self.pairs if pair[1] != getattr(usual, pair[0]))


def read_columns(file: Path) -> ColumnNames:
    """The mapping of a YAML file, `part: column`. Raises SpecError for one that is none."""
    known = [name for name, _ in ColumnNames().pairs]
    given = document.load(file).mapping(known)
    return ColumnNames(**{name: node.string() for name, node in given.items()})


def top_name(column: str) -> str:
    """The column of a file that holds this one."""
    return column.partition(".")[0]


def check_columns(wanted: ColumnNames, found: Iterable[str], place: str) -> None:
    """Raises UsageError where a file lacks the bodies, or a column that the mapping names."""
    there = list(found)
    needed = dict(wanted.chosen) | {"body": wanted.body}
    for part, column in needed.items():
        if top_name(column) not in there and column not in there:
            message = _missing_text(part, column, there)
            raise UsageError(message, place=Place(place), hint=_MAPPING)


def _missing_text(part: str, column: str, there: list[str]) -> str:
    near = difflib.get_close_matches(column, there, 1)
    shown = ", ".join(near or there[:_SHOWN]) or "none"
    said = f"no column {column!r} for the {part}"
    return f"{said}; did you mean {shown}?" if near else f"{said}; there are {shown}"


def value_at(row: Mapping[str, Any], column: str) -> Any:
    """The value of a column, None where it is missing; dots lead into structs."""
    if column in row:
        return row[column]
    if "." not in column:
        return None
    value: Any = row
    for name in column.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value
