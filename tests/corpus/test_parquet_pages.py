"""Parquet files with large values and pages: sizes are known before anything is unpacked."""

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
from conformance.corpus.parquet_pages import largest_pages
from tests.corpus.checked import check, rows
from tests.corpus.test_stored_payloads import BODY


@pytest.mark.parametrize("column", ["id", "body", "model", "request"])
def test_a_row_that_is_too_large_is_put_aside_and_all_others_judged(
    tmp_path: Path, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.corpus.fragment_work.MAX_VALUE", 5_000)
    columns = {"id": ["a", "b"], "body": [BODY] * 2, "model": ["m"] * 2, "request": ["{}"] * 2}
    columns[column][1] = "x" * 9_000
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", compression="gzip")
    progress = check(tmp_path / "a.parquet", tmp_path / "out")
    [judged], [aside] = rows(tmp_path / "out"), rows(tmp_path / "out", "unreadable")
    assert (judged["id"], progress.rows) == ("a", 2)
    unit = "bytes" if column == "body" else "characters"
    assert aside["reason"] == f"its {column!r} has 9,000 {unit}, more than 5,000: not judged"


WRITTEN: dict[str, dict[str, Any]] = {
    "dictionary": {},
    "plain": {"use_dictionary": False},
    "pages of version 2": {"use_dictionary": False, "data_page_version": "2.0"},
    "prefixes": {"use_dictionary": False, "column_encoding": {"body": "DELTA_BYTE_ARRAY"}},
    "many pages": {"use_dictionary": False, "data_page_size": 500, "write_batch_size": 3},
}


@pytest.mark.parametrize("how", WRITTEN)
def test_the_largest_page_is_known_before_it_is_unpacked(how: str) -> None:
    into = io.BytesIO()
    values = [*(b"%d" % n * (n % 90) for n in range(70)), b"z" * 50_000, b"last"]
    pq.write_table(pa.table({"body": values}), into, compression="zstd", **WRITTEN[how])
    group = pq.ParquetFile(into).metadata.row_group(0)
    [(column, size)] = largest_pages(into, group, ["body"])
    assert column == "body"
    assert 50_000 < size < 200_000


def test_a_row_group_with_too_large_a_page_is_put_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.corpus.parquet_rows.MAX_PAGES", 5_000)
    table = pa.table({"id": ["a", "b"], "body": [BODY, BODY + ":" * 9_000]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1)
    check(tmp_path / "a.parquet", tmp_path / "out")
    assert [each["id"] for each in rows(tmp_path / "out")] == ["a"]
    [aside] = rows(tmp_path / "out", "unreadable")
    assert "row group 1 has a page of" in aside["reason"]
    assert "bytes in column 'body': nothing of it was read" in aside["reason"]


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
    assert f"has {size + 6:,} bytes, more than 67,108,864: not judged" in aside["reason"]
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
