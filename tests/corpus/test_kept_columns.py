from __future__ import annotations

import json
import shutil
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.cli import main
from conformance.core.errors import UsageError
from conformance.corpus.columns import ColumnNames, read_columns
from conformance.corpus.engines import WorkerProcesses
from conformance.corpus.grouping import corpus_report
from conformance.corpus.judge import JudgeChoices
from conformance.corpus.report_text import render_json
from tests.corpus import made
from tests.corpus.checked import check, output_bytes, rows

SIZE = 100
KEEP = ("region", "labels.team", "canary", "shard")
REGIONS = ("eu", "us")


def row_of(number: int) -> dict[str, Any]:
    """A stream of a gateway that knows more than where it came from."""
    row = made.row_of(number)
    more = {
        "region": REGIONS[number % 2],
        "labels": {"team": f"t{number % 3}"},
        "canary": number % 5 == 0,
        "shard": number % 4,
    }
    return {**row, "body": row["body"].decode(), "time": row["time"].isoformat(), **more}


def write_lines(file: Path, some: Iterable[Any]) -> None:
    text = "".join(json.dumps(each) + "\n" for each in some)
    file.write_text(text, encoding="utf-8")


def keeping(*columns: str) -> JudgeChoices:
    return JudgeChoices(columns=ColumnNames(keep=columns))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    table = pa.Table.from_pylist([row_of(number) for number in range(SIZE // 2)])
    pq.write_table(table, folder / "a.parquet", row_group_size=20)
    write_lines(folder / "b.jsonl", (row_of(number) for number in range(SIZE // 2, SIZE)))
    return folder


@pytest.fixture(scope="module")
def checked(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    check(source, out, None, keeping(*KEEP))
    return out


def test_a_kept_column_belongs_to_each_verdict_and_finding(checked: Path) -> None:
    found = [f"kept_{name}" for name in KEEP]
    for row in rows(checked, "verdicts", "id", *found) + rows(checked, "findings", "id", *found):
        number = int(row["id"][1:])
        expected = (f"t{number % 3}", str(number % 5 == 0).lower(), str(number % 4))
        assert tuple(row[name] for name in found) == (REGIONS[number % 2], *expected)


def test_a_report_groups_by_kept_columns(checked: Path) -> None:
    report = corpus_report(checked, by=("region", "labels.team", "provider", "region"))
    assert report.by == ("region", "labels.team", "provider")
    cells = {cell.values: cell.of for group in report.groups for cell in group.cells}
    for (region, team, provider), of in cells.items():
        expected = (REGIONS.index(region), int(team[1:]), made.PROVIDERS.index(provider))
        assert of == len([n for n in range(SIZE) if (n % 2, n % 3, n % 3) == expected])
    values = json.loads(render_json(report))["groups"][0]["cells"][0]["values"]
    assert set(values) == set(report.by)


@pytest.mark.slow
def test_several_processes_keep_the_same_bytes(source: Path, checked: Path, tmp_path: Path) -> None:
    check(source, tmp_path, WorkerProcesses(2), keeping(*KEEP))
    assert output_bytes(tmp_path) == output_bytes(checked)


def test_a_column_that_is_not_there_is_one_line(source: Path, tmp_path: Path) -> None:
    for name in ("a.parquet", "b.jsonl"):
        with pytest.raises(UsageError, match=r"no column 'regoin' to keep; did you mean region\?$"):
            check(source / name, tmp_path / "out", None, keeping("regoin"))
    assert not (tmp_path / "out").exists()
    with pytest.raises(UsageError, match="at most 16 columns are kept, got 17"):
        ColumnNames(keep=tuple(map(str, range(17))))


def test_long_rows_are_looked_through_one_by_one(tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", ({"body": "x" * (1 << 20)} for _ in range(40)))
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match="no column 'region' to keep"):
            check(tmp_path / "in.jsonl", tmp_path / "out", None, keeping("region"))
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_unknown_column_shows_the_known(source: Path, checked: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no column 'colour' to group by; .*week.*labels\.team"):
        corpus_report(checked, by=("colour",))
    check(source / "b.jsonl", tmp_path / "out")
    with pytest.raises(UsageError, match=r"there are .*found \(`corpus check --keep COLUMN` keeps"):
        corpus_report(tmp_path / "out", by=("region",))


def test_a_kept_column_may_have_the_name_of_a_column_of_the_tables(tmp_path: Path) -> None:
    names = ("rule", "file", "provider", "group", "row_count")
    write_lines(tmp_path / "in.jsonl", ({**row_of(49), **{n: f"my {n}" for n in names}},))
    check(tmp_path / "in.jsonl", tmp_path / "out", None, keeping(*names))
    (group, *_) = corpus_report(tmp_path / "out", by=names).groups
    assert group.cells[0].values == tuple(f"my {name}" for name in names)
    assert group.rule == made.template_of(49).breaks


def test_kept_values_are_plain_short_and_without_secrets(tmp_path: Path) -> None:
    token = "sk-ant-api03-" + "Zx9Qw7Lm" * 12
    given = {
        "long": "x" * 100_000,
        "secret": "by " + token,
        "cut": "x" * 190 + " " + token,
        "list": [1, 2],
        "object": {"a": 1},
        "none": None,
        "number": 1.5,
        "bell": "a\x1b[31mb",
    }
    write_lines(tmp_path / "in.jsonl", ({**row_of(0), **given},))
    check(tmp_path / "in.jsonl", tmp_path / "out", None, keeping(*given))
    (row,) = rows(tmp_path / "out", "verdicts", *(f"kept_{name}" for name in given))
    kept = {name: row[f"kept_{name}"] for name in given}
    assert kept["long"] == "x" * 200
    assert "Zx9Qw7Lm" not in kept["secret"] + kept["cut"]
    assert (kept["list"], kept["object"], kept["none"]) == ("(a list)", "(an object)", "")
    assert (kept["number"], kept["bell"]) == ("1.5", given["bell"])


def test_folders_and_rows_that_lack_a_column_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "in" / "route=chat"
    folder.mkdir(parents=True)
    first = row_of(0)
    del first["region"]
    write_lines(folder / "a.jsonl", (first, row_of(1)))
    recordings = Path(__file__).parents[2] / "cassettes" / "openai.chat"
    shutil.copy(next(recordings.rglob("*.cassette.jsonl")), folder / "b.cassette.jsonl")
    check(tmp_path / "in", tmp_path / "out", None, keeping("route", "region"))
    told_of = ("kept_route", "kept_region")
    found = [tuple(row.values()) for row in rows(tmp_path / "out", "verdicts", *told_of)]
    assert sorted(set(found)) == [("chat", ""), ("chat", "us")]


def test_a_log_may_gain_a_column_on_its_way(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    made.write_parquet(folder / "a.parquet", range(2))
    write_lines(folder / "b.jsonl", (row_of(2),))
    check(folder, tmp_path / "out", None, keeping("region"))
    table = rows(tmp_path / "out", "verdicts", "id", "kept_region")
    assert {row["id"]: row["kept_region"] for row in table} == {
        **{made.stream_id(n): "" for n in range(2)},
        made.stream_id(2): row_of(2)["region"],
    }
    with pytest.raises(UsageError, match="no column 'regoin' to keep; did you mean region"):
        check(folder, tmp_path / "other", None, keeping("regoin"))


def test_a_mapping_may_name_folders_and_columns_to_keep(tmp_path: Path) -> None:
    folder = tmp_path / "in" / "vendor=west"
    folder.mkdir(parents=True)
    made.write_parquet(folder / "a.parquet", range(2))
    made.write_json_lines(folder / "b.jsonl", range(2, 4))
    (tmp_path / "map.yaml").write_text("provider: vendor\nkeep: [model]\n", encoding="utf-8")
    columns = read_columns(tmp_path / "map.yaml", ["status", "model"])
    assert columns == ColumnNames(provider="vendor", keep=("model", "status"))
    check(tmp_path / "in", tmp_path / "out", None, JudgeChoices(columns=columns))
    table = rows(tmp_path / "out", "verdicts", "provider", "kept_model", "kept_status")
    assert {tuple(row.values()) for row in table} == {("west", f"m-{n}", "200") for n in range(2)}


def test_payloads_of_tools_have_their_own_columns(tmp_path: Path) -> None:
    body = row_of(0)["body"]
    litellm = {"call_type": "x", "response_cost": 0, "messages": [], "metadata": {"team": "a"}}
    langfuse = {"trace_id": "t", "type": "GENERATION", "input": None, "metadata": {"team": "b"}}
    attributes = [{"key": "http.response.body", "value": {"stringValue": body}}]
    shared = [{"key": "metadata.team", "value": {"stringValue": "c"}}]
    scopes = [{"spans": [{"spanId": "o", "attributes": attributes}]}]
    otlp = {"resource": {"attributes": shared}, "scopeSpans": scopes}
    some = (
        {**litellm, "id": "l", "response": {"response": body}},
        {**langfuse, "id": "f", "output": body},
        {"resourceSpans": [otlp]},
    )
    write_lines(tmp_path / "in.jsonl", some)
    check(tmp_path / "in.jsonl", tmp_path / "out", None, keeping("metadata.team"))
    table = rows(tmp_path / "out", "verdicts", "id", "kept_metadata.team")
    assert [tuple(row.values()) for row in table] == [("l", "a"), ("f", "b"), ("o", "c")]


def test_the_verbs_keep_and_group(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = str(source / "a.parquet"), str(tmp_path / "out")
    asked = ["--keep", "region", "--keep", "labels.team", "-j", "1"]
    assert main(["corpus", "check", file, "--out", out, *asked]) == 0
    assert main(["corpus", "report", out, "--by", "region", "--by", "labels.team"]) == 0
    assert "us · t1" in capsys.readouterr().out
    assert main(["corpus", "report", out, "--by", "colour"]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("error: no column 'colour' to group by; there are dialect, ")
    assert printed.count("\n") == 1
    assert main(["corpus", "check", file, "--out", out, "--keep", "region", "-j", "1"]) == 2
    assert "by other options" in capsys.readouterr().err
