from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.cassette import open_recording
from conformance.cli import main
from conformance.core.errors import UsageError
from conformance.corpus.grouping import corpus_report
from conformance.corpus.report_html import render_html
from conformance.corpus.sampling import sample_corpus
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from tests.corpus import made
from tests.corpus.checked import check, rows

SIZE = 300
CHAT = Path(__file__).parents[2] / "cassettes" / "openai.chat"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A source, and what a check of it wrote."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("out")
    made.write_parquet(source / "a.parquet", range(SIZE // 2), group=100)
    made.write_json_lines(source / "b.jsonl", range(SIZE // 2, SIZE))
    with (source / "b.jsonl").open("ab") as lines:
        lines.write(b'{"id": "broken", "body": null}\n')
    check(source, out)
    return source, out


def test_groups_have_the_counts_of_the_streams(folders: tuple[Path, Path]) -> None:
    report = corpus_report(folders[1])
    assert (report.streams, report.unreadable) == (SIZE, 1)
    assert report.with_findings == len(made.planted(range(SIZE)))
    assert report.reasons == (("the body is null", 1),)
    streams = {(row["id"], row["group"]) for row in rows(folders[1], "findings")}
    found = {group.group: group.streams for group in report.groups}
    found |= {each.group: each.streams for group in report.groups for each in group.following}
    assert sum(found.values()) == len(streams)
    for group in report.groups:
        assert sum(cell.streams for cell in group.cells) == group.streams


def test_cells_are_rates_of_those_that_share_the_values(folders: tuple[Path, Path]) -> None:
    report = corpus_report(folders[1], by=("provider",))
    of = {cell.values[0]: cell.of for group in report.groups for cell in group.cells}
    assert of == dict.fromkeys(made.PROVIDERS, SIZE // 3)


def test_since_leaves_out_what_came_before(folders: tuple[Path, Path]) -> None:
    since = made.BEGAN + timedelta(minutes=7) * 200
    report = corpus_report(folders[1], since=since)
    assert (report.streams, report.left_out) == (100, 200)
    assert report.first == since
    assert {group.exemplar.id for group in report.groups} <= set(made.planted(range(200, SIZE)))


def test_the_exemplar_opens_in_the_timeline(folders: tuple[Path, Path]) -> None:
    report = corpus_report(folders[1])
    page = render_html(report)
    assert page.count('<details class="stream"') == len(report.groups)
    assert "No picture" not in page
    for group in report.groups:
        assert group.rule in page
        assert group.exemplar.id in page


def test_source_that_is_gone_is_stated_on_page(folders: tuple[Path, Path], tmp_path: Path) -> None:
    page = render_html(corpus_report(folders[1]), str(tmp_path / "nowhere"))
    assert "no such file or folder" in page
    assert '<details class="stream"' not in page


def test_ids_of_several_rows_are_reported(tmp_path: Path) -> None:
    made.write_json_lines(tmp_path / "in.jsonl", [1, 2, 1])
    check(tmp_path / "in.jsonl", tmp_path / "out")
    assert corpus_report(tmp_path / "out").repeated_ids == ((made.stream_id(1), 2),)


def test_equal_ids_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made.write_json_lines(tmp_path / "in.jsonl", [1, 2, 1])
    out = str(tmp_path / "out")
    assert main(["corpus", "check", str(tmp_path / "in.jsonl"), "--out", out, "-j", "1"]) == 2
    printed = capsys.readouterr()
    assert printed.err == f"error: 2 rows have the id '{made.stream_id(1)}'\n"
    assert printed.out.startswith("3 streams judged")


def test_a_field_that_vanishes_is_a_wire_change(tmp_path: Path) -> None:
    row = json.loads(made.json_line(0))
    lines = []
    for number in range(40):
        body = row["body"] if number < 20 else row["body"].replace('"created"', '"made_at"')
        time = (made.BEGAN + timedelta(days=7 * (number // 20))).isoformat()
        lines.append({**row, "id": str(number), "body": body, "time": time})
    (tmp_path / "in").mkdir()
    for at in range(10):  # a few streams of each file are looked at
        some = "".join(json.dumps(line) + "\n" for line in lines[at * 4 : at * 4 + 4])
        (tmp_path / "in" / f"{at}.jsonl").write_text(some, encoding="utf-8")
    check(tmp_path / "in", tmp_path / "out")
    changes = {
        (change.word, change.what)
        for change in corpus_report(tmp_path / "out").history.changes
        if change.kind == "field"
    }
    assert ("vanished", "chat.chunk: created is number") in changes
    assert ("appeared", "chat.chunk: made_at is number") in changes
    assert {what.partition(": ")[2].partition(" ")[0] for _, what in changes} == {
        "created",
        "made_at",
    }


@pytest.mark.slow
def test_sample_shows_every_finding_and_rule(folders: tuple[Path, Path], tmp_path: Path) -> None:
    sample = sample_corpus(folders[1], tmp_path / "sample")
    assert sample.left_out == ()
    passed: set[str] = set()
    failed: set[str] = set()
    for file in (tmp_path / "sample").rglob("*.cassette.jsonl"):
        recording = open_recording(file)
        (result,) = check_recording(recording, Rulebook.load(), CheckChoices())
        by_verdict = {
            wanted: {rule for rule, verdict in result.verdicts.items() if verdict == wanted}
            for wanted in ("PASS", "FAIL")
        }
        assert by_verdict["FAIL"] == set(recording.header.expect)
        assert ("mutants" in file.parts) == bool(by_verdict["FAIL"])
        passed |= by_verdict["PASS"]
        failed |= by_verdict["FAIL"]
    assert passed == {rule for row in rows(folders[1]) for rule in row["passed_rules"].split()}
    assert failed == {rule for row in rows(folders[1]) for rule in row["failed_rules"]}
    assert len(sample.recordings) < SIZE / 4


def test_recordings_of_a_folder_are_found_again(tmp_path: Path) -> None:
    """Their names end as those of rows do."""
    (tmp_path / "in").mkdir()
    for each in sorted(CHAT.rglob("*.cassette.jsonl"))[:2]:
        shutil.copy(each, tmp_path / "in" / each.name)
    check(tmp_path / "in", tmp_path / "out")
    sample = sample_corpus(tmp_path / "out", tmp_path / "sample")
    assert sample.recordings
    assert sample.left_out == ()


def test_verbs_from_folder_to_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made.write_parquet(tmp_path / "in.parquet", range(45, 55))
    source, out = str(tmp_path / "in.parquet"), str(tmp_path / "out")
    assert main(["corpus", "inspect", source]) == 0
    assert "profile" in capsys.readouterr().out
    assert main(["corpus", "check", source, "--out", out, "-j", "1"]) == 0
    assert capsys.readouterr().out.startswith("10 streams judged, ")
    page, values = tmp_path / "page.html", tmp_path / "values.json"
    outputs = ["-o", f"html={page}", "-o", f"json={values}"]
    assert main(["corpus", "report", out, *outputs]) == 0
    rule = made.planted(range(45, 55))[made.stream_id(49)]
    assert rule in capsys.readouterr().out
    document = json.loads(values.read_text(encoding="utf-8"))
    assert rule in {group["rule"] for group in document["groups"]}
    assert rule in page.read_text(encoding="utf-8")
    for asked, code in (("may", 1), (rule, 1), ("wire/none-such", 0), ("nonsense", 2)):
        assert main(["corpus", "report", out, "--fail-on", asked]) == code
    assert main(["corpus", "report", out, "--since", "2030-01-01"]) == 5
    assert main(["corpus", "report", out, "--by", "colour"]) == 2
    assert main(["corpus", "report", str(tmp_path)]) == 2
    assert main(["corpus", "sample", out, "-o", str(tmp_path / "sample")]) == 0
    capsys.readouterr()


def strange_row(number: int) -> dict[str, Any]:
    """A stream as somebody else might have logged it."""
    row = made.row_of(number)
    answer = {"code": row["status"], "headers": row["headers"], "raw": row["body"].decode()}
    return {
        "traceId": row["id"],
        "ts": row["time"].isoformat(),
        "vendor": row["provider"],
        "req_json": row["request"],
        "model_name": row["model"],
        "answer": answer,
    }


@pytest.mark.parametrize("name", ["in.parquet", "in.jsonl"])
def test_inspect_gives_mapping(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = [strange_row(0), strange_row(1)]
    if name == "in.parquet":
        strange[0]["answer"]["raw"] = None  # the next row tells
        pq.write_table(pa.Table.from_pylist(strange), tmp_path / name)
    else:
        lines = "".join(json.dumps(row) + "\n" for row in strange)
        (tmp_path / name).write_text(lines, encoding="utf-8")
    source, out, columns = str(tmp_path / name), str(tmp_path / "out"), tmp_path / "map.yaml"
    assert main(["corpus", "inspect", source]) == 2
    printed = capsys.readouterr().out
    proposed = printed.partition("(a beginning for FILE)\n")[2].partition("first ")[0]
    columns.write_text(proposed, encoding="utf-8")
    main(["corpus", "check", source, "--out", out, "--map", str(columns), "-j", "1"])
    names = ("id", "provider", "model", "week")
    (*_, found) = rows(Path(out), "verdicts", *names)
    assert found == {**{name: made.row_of(1)[name] for name in names[:3]}, "week": "2026-W45"}


def test_what_is_missing_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made.write_json_lines(tmp_path / "in.jsonl", range(2))
    source, out = str(tmp_path / "in.jsonl"), str(tmp_path / "out")
    (tmp_path / "map.yaml").write_text("text: x\n", encoding="utf-8")
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    calls = (
        ["corpus", "check", source, "--out", out, "--engine", "ray"],
        ["corpus", "check", source, "--out", out, "--engine", "dask"],
        ["corpus", "check", source, "--out", out, "--ray-address", "auto"],
        ["corpus", "check", source, "--out", out, "--map", str(tmp_path / "map.yaml")],
        ["corpus", "check", source, "--out", out, "--profile", "nobody"],
        ["corpus", "check", str(tmp_path / "none"), "--out", out],
        ["corpus", "inspect", str(tmp_path / "none")],
        ["corpus", "nothing"],
    )
    for call in calls:
        assert main(call) == 2, call
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("error: ")
        assert printed.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_without_verdicts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no output of a corpus"):
        corpus_report(tmp_path)
