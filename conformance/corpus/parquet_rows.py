"""Rows of one row group of a Parquet file: few at a time, one body as bytes at a time.

Bodies are never joined: an Arrow array of `binary` holds at most 2 GiB. A batch has as many rows as
fit into `BATCH_BYTES` by the mean of the row group, at most `BATCH_ROWS`: a few long bodies among
short ones, and long ones that the file holds once for many rows, do not fill the memory.
Nothing is unpacked before its size is known (`parquet_pages`): a row group whose largest
pages have more than `MAX_PAGES` bytes stays unread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

from conformance.core.errors import CassetteError, Place, UsageError
from conformance.corpus.arrow import load_module
from conformance.corpus.columns import ColumnNames, check_columns, path_values, top_name
from conformance.corpus.fragments import Fragment, open_parquet
from conformance.corpus.parquet_pages import DamagedPageError, LargestPage, largest_pages
from conformance.corpus.storage import Storage

BATCH_BYTES: Final = 4 << 20
BATCH_ROWS: Final = 16
BATCH_PAGES: Final = 64 << 20
MAX_PAGES: Final = 512 << 20  # bytes, unpacked, of the largest page of each column


def read_parquet_rows(
    storage: Storage, fragment: Fragment, columns: ColumnNames
) -> Iterator[dict[str, Any]]:
    """The wanted columns of every row.

    Raises CassetteError for a row group that is damaged, or has a page that is too large.
    """
    with open_parquet(storage, fragment.path) as parquet:
        names = wanted_columns(parquet, columns, storage, fragment.path)
        yield from group_rows(storage, fragment, parquet, names, columns.body)


def group_rows(
    storage: Storage, fragment: Fragment, parquet: Any, names: list[str], body: str
) -> Iterator[dict[str, Any]]:
    """As `read_parquet_rows`, of these columns; `body` is taken out row by row."""
    arrow = load_module("pyarrow")
    place = Place(storage.shown(fragment.path))
    try:
        with closing(storage.open_file(fragment.path)) as file:
            about = parquet.metadata.row_group(fragment.part)
            pages = largest_pages(file, about, names)
        if sum(each.size for each in pages) > MAX_PAGES:
            largest = max(pages, key=lambda each: each.size)
            message = f"row group {fragment.part} has a page of {largest.size:,} bytes in column"
            raise CassetteError(
                f"{message} {largest.column!r}: nothing of it was read", place=place
            )
        batches = parquet.iter_batches(
            batch_size=_rows_at_once(about, pages),
            row_groups=[fragment.part],
            columns=names,
            use_threads=False,
        )
        for batch in batches:
            yield from batch_rows(batch, body)
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


def _rows_at_once(about: Any, pages: list[LargestPage]) -> int:
    """No row has more than a page of each column, and a page may state a value for many rows."""
    mean = max(1, int(about.total_byte_size) // max(1, int(about.num_rows)))
    most = max(1, sum(each.size for each in pages))
    return max(1, min(BATCH_ROWS, BATCH_BYTES // mean, BATCH_PAGES // most))


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
