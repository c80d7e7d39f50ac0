"""Columns of Parquet files whose writers did not look whether a text is UTF-8."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.corpus.parquet_rows import batch_rows
from tests.corpus.checked import check, rows
from tests.corpus.test_stored_payloads import BODY

TEXTS: dict[str, Any] = {"text": pa.string(), "large text": pa.large_string()}


def unchecked(values: list[bytes | None], kind: Any) -> Any:
    """A column of texts that nobody looked at."""
    bytes_kind = pa.large_binary() if kind == pa.large_string() else pa.binary()
    return pa.array(values, bytes_kind).view(kind)


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_that_is_no_utf8_is_read_all_the_same(kind: str, tmp_path: Path) -> None:
    ids = unchecked([b"s1", b"s\xff2", None], TEXTS[kind])
    models = unchecked([b"m"] * 3, TEXTS[kind]).dictionary_encode()
    table = pa.table({"id": ids, "body": [BODY.encode()] * 3, "model": models})
    pq.write_table(table, tmp_path / "in.parquet")
    progress = check(tmp_path / "in.parquet", tmp_path / "out")
    assert (progress.streams, progress.unreadable) == (3, 0)
    assert [each["id"] for each in rows(tmp_path / "out")][:2] == ["s1", "s\ufffd2"]


def test_a_column_whose_name_is_no_utf8_is_damage(tmp_path: Path) -> None:
    file = tmp_path / "in.parquet"
    table = pa.table({"id": ["s1"], "body": [BODY.encode()], "vendor": ["x"]})
    pq.write_table(table, file, store_schema=False)
    file.write_bytes(file.read_bytes().replace(b"vendor", b"vend\xefr"))
    check(file, tmp_path / "out")
    (found,) = rows(tmp_path / "out", "unreadable")
    assert "no whole Parquet file" in found["reason"]


def test_what_cannot_be_read_so_is_damage(tmp_path: Path) -> None:
    names = pa.ListArray.from_arrays([0, 1], unchecked([b"\xff"], pa.string()))
    table = pa.table({"id": names, "body": [BODY.encode()]})
    pq.write_table(table, tmp_path / "in.parquet")
    check(tmp_path / "in.parquet", tmp_path / "out")
    (found,) = rows(tmp_path / "out", "unreadable")
    assert "is damaged" in found["reason"]


def test_long_bodies_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"body": [BODY + ":" * 100_000 + "\n\n"] * 60}), tmp_path / "a.parquet")
    sizes = []

    def seen(batch: Any, body: str) -> Any:
        sizes.append(batch.nbytes)
        return batch_rows(batch, body)

    monkeypatch.setattr("conformance.corpus.parquet_rows.batch_rows", seen)
    assert check(tmp_path / "a.parquet", tmp_path / "out").rows == 60
    assert max(sizes) < 60 * 100_000 / 3
