"""Reports of shards, merged: what one check of all would have said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.core import shipped
from conformance.core.errors import SpecError, UsageError
from conformance.recordings.check import check_paths
from conformance.report.files import render
from conformance.report.shards import read_shards

PASSES = shipped.cassettes() / "openai.responses/demo/summary.cassette.jsonl"
FAILS = shipped.cassettes() / "mutants/demo/summary.cassette.jsonl"


def shards(folder: Path) -> list[Path]:
    found = []
    for name, path in (("a", PASSES), ("b", FAILS)):
        found.append(folder / f"{name}.json")
        found[-1].write_text(render(check_paths([path]), "json"), encoding="utf-8")
    return found


def edited(path: Path, **fields: Any) -> Path:
    value = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**value, **fields}), encoding="utf-8")
    return path


def test_merged_shards_are_a_report_of_all(tmp_path: Path) -> None:
    merged, whole = read_shards(shards(tmp_path)), check_paths([PASSES, FAILS])
    assert merged.summary() == whole.summary()
    assert merged.findings == whole.findings
    assert merged.exit_code() == whole.exit_code() == 1
    assert json.loads(render(merged, "json")) == json.loads(render(whole, "json"))


def test_errors_and_skipped_files_are_kept(tmp_path: Path) -> None:
    first, second = shards(tmp_path)
    edited(first, errors=["x: broken"], passed_over=["y"], notes=["one"])
    edited(second, notes=["one", "two"])
    merged = read_shards([first, second])
    assert (merged.errors, merged.passed_over) == (("x: broken",), ("y",))
    assert merged.notes == ("one", "two")
    assert merged.exit_code() == 2


def test_what_a_baseline_expects_stays_expected(tmp_path: Path) -> None:
    first, second = shards(tmp_path)
    stream = json.loads(second.read_text(encoding="utf-8"))["streams"][0]
    [found] = stream["findings"]
    excuse = {
        **{name: stream[name] for name in ("file", "exchange", "view")},
        "rule": found["rule"],
        "finding": found["id"],
        "reason": "known",
        "entry": "b.yaml:3",
    }
    edited(second, expected=[excuse], stale=["b.yaml:9: gone"])
    edited(first, stale=["b.yaml:3: gone", "b.yaml:9: gone"])
    merged = read_shards([first, second])
    assert merged.unexpected == ()
    assert merged.baseline is not None
    assert merged.baseline.stale == ("b.yaml:9: gone",)
    edited(first, stale=["b.yaml:3: gone"])
    assert read_shards([first, second]).exit_code() == 0


@pytest.mark.parametrize(
    ("text", "error", "why"),
    [
        ("{", SpecError, "no report in JSON"),
        ('{"report": "2.0", "streams": []}', SpecError, "expected a report of version 1"),
        ('{"report": "1.0", "streams": [], "soak": {}}', UsageError, "soak cannot be merged"),
        ('{"report": "1.0", "streams": [{}]}', SpecError, "no report in JSON"),
    ],
)
def test_no_report_is_refused(tmp_path: Path, text: str, error: type[Exception], why: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(error, match=why):
        read_shards([path, path])


def test_verb_gives_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [str(path) for path in shards(tmp_path)]
    out = tmp_path / "all.xml"
    assert main(["report", "merge", *names, "-o", f"junit={out}"]) == 1
    assert "over 2 streams: 1 FAIL (1 MUST)" in capsys.readouterr().out
    assert out.read_text(encoding="utf-8").startswith("<?xml")
    assert main(["report", "merge", names[0]]) == 2
    assert "name two json reports or more" in capsys.readouterr().err
