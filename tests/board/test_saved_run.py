from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.board import add_run, disagreements, read_summary, summarise
from conformance.board.saved_run import run_files
from conformance.board.verifying import recordings_folder
from conformance.core.errors import ConformanceError, SpecError, UsageError
from conformance.recordings.check import check_paths
from tests.board.saved import BROKEN, GOOD, KEPT, saved_run

LEAK = "stripping/visible-text/no-markers"


def test_a_summary_counts_what_check_counts(tmp_path: Path) -> None:
    run = saved_run(tmp_path, BROKEN)
    summary = summarise(run, run_files(run))
    report = check_paths([run], trust=[run])
    counted: dict[str, int] = {}
    for counts in summary.families.values():
        for verdict, number in counts.items():
            counted[verdict] = counted.get(verdict, 0) + number
    assert counted == {verdict: n for verdict, n in report.summary().items() if n}
    assert summary.failed == (LEAK,)
    assert [(each.rule, each.level) for each in summary.groups] == [(LEAK, "MUST")]
    assert summary.groups[0].first.file == KEPT
    about = summary.run
    assert (about.kind, about.name, about.version, about.date) == (
        *("server", "acme", "1.2"),
        "2026-11-20",
    )


def test_a_run_comes_to_the_board_packed_and_agrees_with_itself(tmp_path: Path) -> None:
    path = add_run(tmp_path / "board", saved_run(tmp_path / "run"))
    assert path.name == "server-acme-1.2-2026-11-20.run.json"
    kept = recordings_folder(path)
    assert run_files(kept) == (f"{KEPT}.gz",)
    assert disagreements(read_summary(path), kept) == []


def test_with_a_link_the_recordings_stay_where_they_are(tmp_path: Path) -> None:
    run = saved_run(tmp_path / "run")
    path = add_run(tmp_path / "board", run, "https://example.com/acme.tar.gz")
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert read_summary(path).link == "https://example.com/acme.tar.gz"
    assert disagreements(read_summary(path), run) == []


def test_of_a_client_its_report_is_judged_and_its_name_counts(tmp_path: Path) -> None:
    seen_at = "2026-11-21T09:00:00Z"
    about = {"name": "my-client", "version": "3.1", "events": ["text.delta"]}
    run = saved_run(tmp_path, extra={"implementation": about, "seen_at": seen_at})
    summary = summarise(run, run_files(run))
    assert (summary.run.kind, summary.run.name) == ("client", "my-client")
    assert summary.run.date == "2026-11-21"
    assert summary.streams == 0  # it reported nothing


def test_what_a_run_says_in_its_own_favour_is_listed(tmp_path: Path) -> None:
    excused = {"": {"ends": ["complete"], "excused": {LEAK: "ours alone"}}}
    run = saved_run(tmp_path, BROKEN, extra={"run": {"target": "server", "steps": excused}})
    summary = summarise(run, run_files(run))
    assert LEAK in summary.failed or LEAK in summary.silenced


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"extra": {}}, "does not say what was run"),
        ({"extra": {"run": {"target": "spaceship"}}}, "does not say what was run"),
        ({"target": {}}, "does not say its target's name"),
        ({"recorded_at": None}, "does not say what was run, and when"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, header: dict[str, Any], message: str) -> None:
    run = saved_run(tmp_path, **header)
    with pytest.raises(UsageError, match=message):
        summarise(run, run_files(run))


def test_recordings_of_two_targets_are_no_run(tmp_path: Path) -> None:
    run = saved_run(tmp_path)
    saved_run(run, GOOD, "openai.responses/z.cassette.jsonl", target={"name": "other"})
    with pytest.raises(UsageError, match="is a run of server other"):
        summarise(run, run_files(run))


def test_a_run_is_on_the_board_once(tmp_path: Path) -> None:
    run = saved_run(tmp_path / "run")
    add_run(tmp_path / "board", run)
    with pytest.raises(UsageError, match="on the board already"):
        add_run(tmp_path / "board", run)


@pytest.mark.parametrize("name", ["../../evil", "a b", "<b>", "x" * 65, ".hidden"])
def test_a_name_that_is_none_writes_nothing(tmp_path: Path, name: str) -> None:
    run = saved_run(tmp_path / "run", target={"name": name})
    with pytest.raises(ConformanceError):
        add_run(tmp_path / "board", run)
    assert not list(tmp_path.glob("board/**/*.json"))
    assert {each.name for each in tmp_path.iterdir()} <= {"run", "board"}


def test_a_link_of_another_scheme_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="expected a link of http or https"):
        add_run(tmp_path / "board", saved_run(tmp_path / "run"), "javascript:alert(1)")


def test_a_folder_without_recordings_is_no_run(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError):
            run_files(folder)
