"""Which column of a source holds what: by its usual name, or as a mapping file says."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from conformance.core.errors import Place, UsageError
from conformance.rules import document

_SHOWN: Final = 12  # columns that are named where none fits
_MOST_KEPT: Final = 16  # further columns
_MAPPING: Final = "--map FILE names it; `conformance corpus inspect` proposes what to write there"


class ColumnNames(Struct, frozen=True, omit_defaults=True, dict=True):
    """The column of each part of a stream; a dot leads into a struct or a JSON object.

    `body` holds the response body (text or bytes), `request` the JSON of the request, `headers`
    those of the response. `chunks` holds `[[ms, bytes], ...]`: milliseconds since the chunk
    before, and the number of bytes. `end` is how the stream ended, in the words of a cassette.
    `session` names the conversation: rows of different sessions do not continue each other.
    `keep` are further columns to group by.
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
    session: str = "session"
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.keep) > _MOST_KEPT:
            raise UsageError(f"at most {_MOST_KEPT} columns are kept, got {len(self.keep)}")

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a column of a part holds, and its name."""
        parts = (name for name in self.__struct_fields__ if name != "keep")
        return tuple((name, getattr(self, name)) for name in parts)

    @property
    def chosen(self) -> tuple[tuple[str, str], ...]:
        """Those that a mapping names otherwise than usual."""
        usual = ColumnNames()
        return tuple(pair for pair in self.pairs if pair[1] != getattr(usual, pair[0]))


def read_columns(file: Path | None, keep: Iterable[str] = ()) -> ColumnNames:
    """The mapping of a YAML file, `part: column`, and columns to keep besides those that it names.

    Raises SpecError for an invalid file, UsageError for too many columns.
    """
    given = {} if file is None else document.load(file).mapping(ColumnNames.__struct_fields__)
    listed = given.pop("keep").sequence() if "keep" in given else ()
    kept = tuple(dict.fromkeys((*(node.string() for node in listed), *keep)))
    return ColumnNames(**{name: node.string() for name, node in given.items()}, keep=kept)


def path_values(path: str) -> dict[str, str]:
    """What folders of a partitioned source say: `provider=x/part.parquet` gives the provider."""
    pairs = (part.partition("=") for part in path.split("/")[:-1])
    return {name: value for name, equals, value in pairs if equals and name}


def top_name(column: str) -> str:
    """The column of a file that holds this one."""
    return column.partition(".")[0]


def check_columns(wanted: ColumnNames, found: Iterable[str], place: str) -> None:
    """Raises UsageError where a file lacks the bodies, or a column that the mapping names."""
    there = list(found)
    needed = dict(wanted.chosen) | {"body": wanted.body}
    for part, column in needed.items():
        _expect_column(column, there, f"for the {part}", place, _MAPPING)


def is_column_of(column: str, found: Collection[str]) -> bool:
    """Whether a source with these columns has the column, or what holds it."""
    return top_name(column) in found or column in found


def check_kept(wanted: ColumnNames, found: Iterable[str], place: str) -> None:
    """Raises UsageError if a column to keep is not among those found."""
    there = list(found)
    for column in wanted.keep:
        _expect_column(column, there, "to keep", place, "")


def _expect_column(column: str, there: list[str], what_for: str, place: str, hint: str) -> None:
    if is_column_of(column, there):
        return
    near = difflib.get_close_matches(column, there, 1)
    shown = ", ".join(near or there[:_SHOWN]) or "none"
    suggestion = f"did you mean {shown}?" if near else f"there are {shown}"
    message = f"no column {column!r} {what_for}; {suggestion}"
    raise UsageError(message, place=Place(place), hint=hint)


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


def kept_values(row: Mapping[str, Any], columns: ColumnNames) -> dict[str, Any]:
    found = {column: value_at(row, column) for column in columns.keep}
    return {column: value for column, value in found.items() if value is not None}
