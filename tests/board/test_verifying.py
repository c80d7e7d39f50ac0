from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from conformance.board import add_run
from conformance.board.verifying import recordings_folder
from conformance.cli import main
from tests.authoring import summary_schema
from tests.board.saved import BROKEN, GOOD, KEPT, saved_run

Change = Callable[[dict[str, Any]], object]
VALIDATOR = jsonschema_rs.Draft202012Validator(json.loads(summary_schema.FILE.read_text("utf-8")))
PACKED = f"{KEPT}.gz"


@pytest.fixture
def summary(tmp_path: Path) -> Path:
    return add_run(tmp_path / "board", saved_run(tmp_path / "run", BROKEN))


def rewrite(path: Path, change: Change) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_a_true_summary_is_0(summary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(summary)]) == 0
    assert lines_of(capsys) == ["the summary agrees with 1 recording, 1 stream"]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda c: c["rules"].update(tool="9.9"), "tool: it was judged by version 9.9, this is"),
        (lambda c: c["rules"].update(sha256="0" * 64), "rules: the summary says sha256 000000"),
        (lambda c: c["run"].update(version="2.0"), "run version: the summary says 2.0, the rec"),
        (lambda c: c["run"].update(date="2026-12-01"), "run date: the summary says 2026-12-01"),
        (lambda c: c["run"].update(kind="gateway"), "run kind: the summary says gateway"),
        (lambda c: c["rules"].update(profiles=["lenient"]), "profiles: the summary says lenient"),
        (lambda c: c.update(streams=7), "streams: the summary says 7, the recordings 1"),
        (lambda c: c["families"].update(stripping={"PASS": 9}), "verdicts stripping: the summary"),
        (lambda c: c["families"].update(x={"PASS": 9}), "verdicts x: the summary says 9 PASS, the"),
        (lambda c: c.update(failed=[]), "rule that fails: stripping/visible-text/no-markers is n"),
        (lambda c: c.update(groups=[]), "finding: stripping/visible-text/no-markers "),
        (lambda c: c.update(silenced={"wire/x": "y"}), "rule silenced by claims: wire/x is n"),
        (
            lambda c: c["recordings"][0].update(sha256="0" * 64),
            f"recording {PACKED}: the summary says sha256 000000000000, the recordings ",
        ),
        (
            lambda c: c["recordings"].append({"file": "more.cassette.jsonl", "sha256": "0" * 64}),
            "recording more.cassette.jsonl: it is missing",
        ),
    ],
)
def test_each_lie_is_1_and_one_line(
    summary: Path, capsys: pytest.CaptureFixture[str], change: Change, line: str
) -> None:
    rewrite(summary, change)
    assert main(["verify", str(summary)]) == 1
    found = lines_of(capsys)
    assert found[0].startswith(line)
    assert found[1:] == ["1 disagreement"]


def test_hash_shows_changes(
    summary: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    better = saved_run(tmp_path / "better", GOOD) / KEPT
    (recordings_folder(summary) / PACKED).write_bytes(gzip.compress(better.read_bytes()))
    assert main(["verify", str(summary)]) == 1
    found = "\n".join(lines_of(capsys))
    assert f"recording {PACKED}: the summary says sha256" in found
    assert "rule that fails: stripping/visible-text/no-markers is not in the recordings" in found


def test_old_summary_holds_by_new_rules(summary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = summary.read_bytes()
    rewrite(summary, lambda c: c["rules"].update(sha256="0" * 64))
    rewrite(summary, lambda c: c.update(failed=[]))
    assert main(["board", str(summary.parent), "--again"]) == 0
    assert lines_of(capsys) == ["1 of 1 run judged otherwise than before"]
    assert summary.read_bytes() == before


def test_other_recordings_are_not_judged_again(summary: Path) -> None:
    rewrite(summary, lambda c: c["recordings"][0].update(sha256="0" * 64))
    before = summary.read_bytes()
    assert main(["board", str(summary.parent), "--again"]) == 2
    assert summary.read_bytes() == before


def test_unlisted_recording_is_reported(summary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = recordings_folder(summary)
    shutil.copy(folder / PACKED, folder / "more.cassette.jsonl.gz")
    assert main(["verify", str(summary)]) == 1
    assert lines_of(capsys)[0] == ("recording more.cassette.jsonl.gz: the summary does not list it")


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["recordings"][0].update(file="../../etc/passwd"),
        lambda c: c["recordings"][0].update(file="/etc/passwd"),
        lambda c: c["recordings"][0].update(file="a\\b"),
        lambda c: c["groups"][0]["first"].update(file="a/../b"),
        lambda c: c["run"].update(name="<script>"),
        lambda c: c["run"].update(name="../x"),
        lambda c: c["run"].update(kind="winner"),
        lambda c: c["run"].update(date="soon"),
        lambda c: c.update(link="javascript:alert(1)"),
        lambda c: c.update(link="https://user:word@example.com/"),
        lambda c: c.update(link='https://example.com/"onclick="x'),
        lambda c: c.update(verdict="PASS"),
        lambda c: c.update(families={"wire": {"SPLENDID": 1}}),
        lambda c: c.update(families={"wire": {"PASS": -1}}),
        lambda c: c.update(streams=10**9),
        lambda c: c.update(groups=c["groups"] * 201),
        lambda c: c["groups"][0].update(message="x" * 601),
        lambda c: c.update(report="2.0"),
    ],
)
def test_an_unusable_summary_is_2(
    summary: Path, capsys: pytest.CaptureFixture[str], change: Change
) -> None:
    rewrite(summary, change)
    assert not VALIDATOR.is_valid(json.loads(summary.read_text()))
    assert main(["verify", str(summary)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b" " * 1024 * 1025, b"[" * 100_000])
def test_what_is_no_summary_is_2(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.run.json"
    path.write_bytes(content)
    assert main(["verify", str(path)]) == 2


def test_missing_recordings_are_named(summary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(recordings_folder(summary))
    assert main(["verify", str(summary)]) == 2
    assert "name the folder with --recordings DIR" in capsys.readouterr().err


def test_a_link_out_of_the_folder_is_refused(summary: Path, tmp_path: Path) -> None:
    path = recordings_folder(summary) / PACKED
    elsewhere = tmp_path / "elsewhere.cassette.jsonl.gz"
    shutil.move(path, elsewhere)
    path.symlink_to(elsewhere)
    assert main(["verify", str(summary)]) == 2
