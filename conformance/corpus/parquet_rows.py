"""Rows of one row group of a Parquet file: few at a time, one body as bytes at a time.

Bodies are never joined: an Arrow array of `binary` holds at most 2 GiB. A batch has as many rows as
fit into `BATCH_BYTES` by the mean of the row group, at most `BATCH_ROWS`: a few long bodies among
short ones, and long ones that the file holds once for many rows, do not fill the memory.
Nothing is unpacked before its size is known (`parquet_pages`): a column with a page of more than
`MAX_VALUE` bytes is read value by value, and a value that is larger stays unread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final, NamedTuple

from conformance.core.errors import CassetteError, Place, UsageError
from conformance.corpus.arrow import load_module
from conformance.corpus.columns import ColumnNames, check_columns, path_values, top_name
from conformance.corpus.fragments import Fragment, open_parquet
from conformance.corpus.parquet_pages import MAX_VALUE, ColumnPages, DamagedPageError, read_pages
from conformance.corpus.parquet_values import (
    OversizedValue,
    UnreadablePageError,
    column_values,
)
from conformance.corpus.storage import Storage

BATCH_BYTES: Final = 4 << 20
BATCH_ROWS: Final = 16
_MISSING: Final = OversizedValue(-1)


def read_parquet_rows(
    storage: Storage, fragment: Fragment, columns: ColumnNames
) -> Iterator[dict[str, Any]]:
    """The wanted columns of every row; OversizedValue for what is too large to be read.

    Raises CassetteError for a file that is damaged, or has a page without a known bound.
    """
    with open_parquet(storage, fragment.path) as parquet:
        names = wanted_columns(parquet, columns, storage, fragment.path)
        yield from group_rows(storage, fragment, parquet, names, columns.body)


class _RowGroup(NamedTuple):
    """A row group, and the pages of the columns that are wanted of it."""

    parquet: Any
    number: int
    file: Any
    pages: list[ColumnPages]


def group_rows(
    storage: Storage, fragment: Fragment, parquet: Any, names: list[str], body: str
) -> Iterator[dict[str, Any]]:
    """As `read_parquet_rows`, of these columns; `body` is taken out row by row."""
    arrow = load_module("pyarrow")
    place = Place(storage.shown(fragment.path))
    try:
        with closing(storage.open_file(fragment.path)) as file:
            pages = read_pages(file, parquet.metadata.row_group(fragment.part), names)
            group = _RowGroup(parquet, fragment.part, file, pages)
            yield from _bounded_rows(group, names, body)
    except UnreadablePageError as err:
        raise CassetteError(f"row group {fragment.part}: {err}", place=place) from err
    except (
        arrow.ArrowInvalid,
        arrow.ArrowException,
        DamagedPageError,
        OSError,
        UnicodeDecodeError,
    ) as err:
        reason = str(err).partition("\n")[0]
        message = f"row group {fragment.part} is damaged: {reason}"
        raise CassetteError(message, place=place) from err


def _bounded_rows(group: _RowGroup, names: list[str], body: str) -> Iterator[dict[str, Any]]:
    large = {each.name: each for each in group.pages if each.largest > MAX_VALUE}
    rows = _batched_rows(group, [name for name in names if name not in large], body)
    if not large:
        yield from rows
        return
    values = {name: _large_values(group, each, body) for name, each in large.items()}
    for row in rows:
        taken = {name: next(each, _MISSING) for name, each in values.items()}
        if _MISSING in taken.values():
            raise DamagedPageError("a column has fewer values than the row group has rows")
        yield {**row, **taken}


def _batched_rows(group: _RowGroup, names: list[str], body: str) -> Iterator[dict[str, Any]]:
    about = group.parquet.metadata.row_group(group.number)
    if not names:
        yield from ({} for _ in range(about.num_rows))
        return
    mean = max(1, about.total_byte_size // max(1, about.num_rows))
    repeated = max((each.repeated for each in group.pages if each.name in names), default=0)
    at_once = min(BATCH_ROWS, BATCH_BYTES // mean, MAX_VALUE // max(1, repeated))
    batches = group.parquet.iter_batches(
        batch_size=max(1, at_once), row_groups=[group.number], columns=names, use_threads=False
    )
    for batch in batches:
        yield from batch_rows(batch, body)


def _large_values(group: _RowGroup, column: ColumnPages, body: str) -> Iterator[Any]:
    """A column that is read in pieces; text for what is no body, as Arrow gives it."""
    for value in column_values(group.file, group.parquet, group.number, column):
        if isinstance(value, bytes) and column.name != body:
            yield value.decode("utf-8", "replace")
        else:
            yield value


def wanted_columns(parquet: Any, columns: ColumnNames, storage: Storage, path: str) -> list[str]:
    """The columns to read. Raises UsageError where the bodies are missing or are none."""
    schema, place = parquet.schema_arrow, storage.shown(path)
    check_columns(columns, (*schema.names, *path_values(path)), place)
    if columns.body in schema.names and not is_body_type(schema.field(columns.body).type):
        kind = schema.field(columns.body).type
        message = f"column {columns.body!r} holds {kind}, expected text or bytes"
        raise UsageError(message, place=Place(place))
    named = (*(column for _, column in columns.pairs), *columns.keep)
    wanted = dict.fromkeys(name if name in schema.names else top_name(name) for name in named)
    return [name for name in wanted if name in schema.names]


def is_body_type(kind: Any) -> bool:
    """Whether an Arrow type can hold bodies."""
    types = load_module("pyarrow.types")
    if types.is_dictionary(kind):
        kind = kind.value_type
    tests = ("is_string", "is_large_string", "is_binary", "is_large_binary")
    views = ("is_string_view", "is_binary_view")
    return any(getattr(types, test)(kind) for test in (*tests, *views))


def batch_rows(batch: Any, body: str) -> Iterator[dict[str, Any]]:
    """Rows of a record batch as dictionaries; each body is taken out when its row comes."""
    others = [name for name in batch.schema.names if name != body]
    plain = _plain_rows(batch, others) if others else [{}] * batch.num_rows
    bodies = batch.column(body) if body in batch.schema.names else None
    for at, row in enumerate(plain):
        yield row if bodies is None else {**row, body: body_of(bodies[at])}


def _plain_rows(batch: Any, names: list[str]) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = batch.select(names).to_pylist()
    except UnicodeDecodeError:  # not every writer looks whether a text is UTF-8
        columns = [_lenient_values(batch.column(name)) for name in names]
        rows = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    return rows


def _lenient_values(column: Any) -> list[Any]:
    """The values of a column; in texts U+FFFD for what is no UTF-8."""
    types, arrow = load_module("pyarrow.types"), load_module("pyarrow")
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        return list(column.to_pylist())
    values = column.cast(arrow.large_binary()).to_pylist()
    return [None if each is None else each.decode("utf-8", "replace") for each in values]


def body_of(scalar: Any) -> Any:
    """The body of an Arrow scalar as bytes; None for null."""
    if not scalar.is_valid:
        return None
    if not hasattr(scalar, "as_buffer"):
        return scalar.as_py()
    buffer = scalar.as_buffer()
    return None if buffer is None else buffer.to_pybytes()
