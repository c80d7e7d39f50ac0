"""Parquet files whose pages are larger than what is unpacked at once: sizes first, values after."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.cli import main
from conformance.corpus.parquet_pages import DamagedPageError, read_pages
from conformance.corpus.parquet_values import OversizedValue, column_values
from tests.corpus.checked import check, rows
from tests.corpus.test_stored_payloads import BODY

SMALL = 5_000
MODULES = ("parquet_pages", "parquet_values", "parquet_rows", "fragment_work")
CODECS = ("none", "zstd", "gzip", "brotli", "snappy", "lz4")
WRITTEN: dict[str, dict[str, Any]] = {
    "dictionary": {},
    "plain": {"use_dictionary": False},
    "pages of version 2": {"use_dictionary": False, "data_page_version": "2.0"},
    "dictionary and version 2": {"data_page_version": "2.0"},
    "many pages": {"use_dictionary": False, "data_page_size": 500, "write_batch_size": 3},
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is large is small here."""
    for name in MODULES:
        monkeypatch.setattr(f"conformance.corpus.{name}.MAX_VALUE", SMALL)


def parquet_of(values: list[bytes | None], *, nulls: bool = True, **how: Any) -> bytes:
    into = io.BytesIO()
    schema = pa.schema([pa.field("body", pa.binary(), nullable=nulls)])
    pq.write_table(pa.table({"body": values}, schema=schema), into, **how)
    return into.getvalue()


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.parametrize("nulls", [True, False])
@pytest.mark.usefixtures("small")
def test_values_are_those_that_arrow_reads(how: str, codec: str, nulls: bool) -> None:
    values: list[bytes | None] = [*(b"%d" % n * (n % 90) for n in range(70))] * 2
    values += [b"x" * SMALL, b"y" * (SMALL + 1), b"", b"z" * 50_000, b"last"]
    if nulls:
        values[3:60:7] = [None] * len(values[3:60:7])
    data = parquet_of(values, nulls=nulls, compression=codec, **WRITTEN[how])
    file, parquet = io.BytesIO(data), pq.ParquetFile(io.BytesIO(data))
    [column] = read_pages(file, parquet.metadata.row_group(0), ["body"])
    assert column.largest > SMALL
    found = list(column_values(file, parquet, 0, column))
    large = {SMALL + 1, 50_000}
    assert found == [OversizedValue(len(v)) if v and len(v) in large else v for v in values]


@pytest.mark.usefixtures("small")
def test_a_row_that_is_too_large_is_put_aside_and_all_others_judged(tmp_path: Path) -> None:
    bodies = [BODY, ":" * 9_000, BODY, None]
    table = pa.table({"id": ["a", "b", "c", "d"], "body": bodies, "model": ["m"] * 4})
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd")
    progress = check(tmp_path / "a.parquet", tmp_path / "out")
    assert [each["id"] for each in rows(tmp_path / "out")] == ["a", "c"]
    assert progress.rows == 4
    aside = {each["id"]: each["reason"] for each in rows(tmp_path / "out", "unreadable")}
    assert aside == {
        "b": "its 'body' has 9,000 bytes, more than 5,000: not read",
        "d": "the body is null",
    }


@pytest.mark.parametrize("column", ["id", "model", "request"])
@pytest.mark.usefixtures("small")
def test_every_column_is_bounded(tmp_path: Path, column: str) -> None:
    columns = {"id": ["a", "b"], "body": [BODY] * 2, "model": ["m"] * 2, "request": ["{}"] * 2}
    columns[column][1] = "x" * 9_000
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", compression="gzip")
    check(tmp_path / "a.parquet", tmp_path / "out")
    [judged], [aside] = rows(tmp_path / "out"), rows(tmp_path / "out", "unreadable")
    assert judged["model"] == "m"
    assert aside["reason"] == f"its {column!r} has 9,000 bytes, more than 5,000: not read"


@pytest.mark.parametrize(
    "value",
    [
        pa.array([["x" * 9_000], ["y"]]),
        pa.array([{"raw": "x" * 9_000}, {"raw": "y"}]),
        pa.array([b"x" * 9_000, b"y" * 9_000], pa.binary(9_000)),
    ],
    ids=["list", "struct", "fixed"],
)
@pytest.mark.usefixtures("small")
def test_what_cannot_be_read_in_pieces_puts_its_row_group_aside(tmp_path: Path, value: Any) -> None:
    table = pa.table({"id": ["a", "b"], "body": [BODY] * 2, "headers": value})
    pq.write_table(table, tmp_path / "a.parquet", use_dictionary=False)
    check(tmp_path / "a.parquet", tmp_path / "out")
    [aside] = rows(tmp_path / "out", "unreadable")
    assert "column 'headers' has a page of" in aside["reason"]
    assert "nothing of it was read" in aside["reason"]


@pytest.mark.usefixtures("small")
def test_damage_inside_a_large_page_is_reported() -> None:
    data = bytearray(parquet_of([b"x" * 9_000, b"y"], compression="none", use_dictionary=False))
    parquet = pq.ParquetFile(io.BytesIO(bytes(data)))
    at = bytes(data).index(b"x" * 100) - 4
    data[at : at + 4] = (10**6).to_bytes(4, "little")
    file = io.BytesIO(bytes(data))
    [column] = read_pages(file, parquet.metadata.row_group(0), ["body"])
    with pytest.raises(DamagedPageError, match="shorter than what it says"):
        list(column_values(file, parquet, 0, column))


def test_huge_row_ends_no_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One worker process, and one for each of two places; inspect reads in its own."""
    size = 200 << 20
    table = pa.table({"id": ["bomb", "good"], "body": ["data: " + "a" * size, BODY]})
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd")
    del table
    assert (tmp_path / "a.parquet").stat().st_size < 100_000
    code = main(["corpus", "check", str(tmp_path), "--out", str(tmp_path / "out"), "-j", "1"])
    assert code == 2
    assert [each["id"] for each in rows(tmp_path / "out")] == ["good"]
    [aside] = rows(tmp_path / "out", "unreadable")
    assert f"has {size + 6:,} bytes, more than 67,108,864: not read" in aside["reason"]
    assert main(["corpus", "inspect", str(tmp_path / "a.parquet")]) == 0
    assert "bomb: not readable: its 'body' has" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_the_memory_of_a_worker_is_capped() -> None:
    code = (
        "from conformance.corpus.worker import cap_memory\n"
        "cap_memory(300 << 20)\n"
        "try:\n    bytearray(400 << 20)\n"
        "except MemoryError:\n    print('capped')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "capped\n"
