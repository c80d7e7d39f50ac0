from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cli import main
from conformance.core import shipped

DEMO = str(shipped.cassettes() / "mutants/demo/summary.cassette.jsonl")
ID = "c0fd0c3cf68d"


def test_an_issue_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "deep" / "out"
    assert main(["report", ID, DEMO, "-o", str(out)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("stripping/visible-text/no-markers: 9 of 29 events")
    assert sorted(line.strip() for line in printed[1:-1]) == sorted(map(str, out.iterdir()))
    assert "Read it through before you send it" in printed[-1]
    assert main(["check", str(out)]) == 1
    assert "1 FAIL (1 MUST)" in capsys.readouterr().out


def test_a_json_report_is_enough(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert main(["check", DEMO, "-o", f"json={report}"]) == 1
    assert main(["report", ID, str(report), "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "issue.md").is_file()


def test_it_may_be_written_twice(tmp_path: Path) -> None:
    for _ in range(2):
        assert main(["report", ID, DEMO, "-o", str(tmp_path), "--seconds", "0"]) == 0


WRONG: list[tuple[list[str], str]] = [
    ([ID], "error: name a recording, a folder, or a json report that has the finding\n"),
    ([str(DEMO), "-o", "out"], f"error: {DEMO} is a path; name the finding first: "),
    ([ID, DEMO], "error: name the folder to write it to: -o DIR\n"),
    ([ID, "none.sse", "-o", "out"], "error: none.sse: no such file or folder\n"),
    (["ffff", DEMO, "-o", "out"], "error: there is no finding 'ffff' (there are c0fd0c3cf68d ("),
    ([], "error: Missing argument"),
]


@pytest.mark.parametrize(("arguments", "line"), WRONG)
def test_a_wrong_call_is_2_and_writes_nothing(
    arguments: list[str],
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", *arguments]) == 2
    assert capsys.readouterr().err.startswith(line)
    assert list(tmp_path.iterdir()) == []
