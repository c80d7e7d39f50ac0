"""What a run found so far, on stderr while it goes on."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from conformance.baseline.entries import Baseline, BaselineEntry
from conformance.cli import main
from conformance.cli.early_findings import EarlyFindings
from conformance.core.errors import Place
from conformance.judging.result import Finding, StreamResult
from conformance.rules.verdicts import Level
from tests.fakes import chatty
from tests.plain_results import plain_finding

CLEARED = "\r\x1b[K"
APP = ["run", "--asgi", "tests.fakes.chatty:APP", "--api", "chat", "--profile", "strict"]


def judged(*findings: Finding, role: str = "turn") -> StreamResult:
    verdicts = {each.rule: each.verdict for each in findings}
    about = ("app-answer.cassette.jsonl", 1, "vercel.ui", "strict", True)
    return StreamResult(*about, verdicts, findings, scenario="app-answer", role=role)


def rules(*names: str) -> list[Finding]:
    return [plain_finding(rule=f"a/b/{each}", event=at) for at, each in enumerate(names, 1)]


def test_each_group_is_one_line_and_comes_once(capsys: pytest.CaptureFixture[str]) -> None:
    early = EarlyFindings("text", None)
    early.show([judged(*rules("c"))])
    early.show([judged(*rules("c", "d"), role="next-turn")])
    early.show([judged()])
    out = capsys.readouterr()
    assert out.out == ""
    assert out.err.splitlines() == [
        "so far: FAIL MUST a/b/c in vercel.ui app-answer/turn: expected x, got y",
        "so far: FAIL MUST a/b/d in vercel.ui app-answer/next-turn: expected x, got y",
    ]


def test_the_gravest_come_first_and_the_rest_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    early = EarlyFindings("text", None)
    notes = [plain_finding(rule=f"a/b/{n}", level=Level.MAY, event=n + 1) for n in range(9)]
    early.show([judged(*notes, plain_finding(rule="z/z/z", event=10))])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("so far: FAIL MUST z/z/z")
    assert lines[5:] == ["so far: 5 more groups of findings, see the report at the end"]


def test_a_run_of_many_faults_does_not_flood_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    early = EarlyFindings("text", None)
    for number in range(1000):
        early.show([judged(*rules(f"rule-{number}"))])
    assert len(capsys.readouterr().err.splitlines()) == 40


def test_what_a_baseline_expects_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    place = Place("known.yaml", 2)
    entry = BaselineEntry("a/b/c", "app-1", "app-answer/turn", "It is known.", place)
    early = EarlyFindings("text", Baseline("known.yaml", (entry,), "app-1"))
    early.show([judged(*rules("c", "d"))])
    assert "a/b/c" not in (errors := capsys.readouterr().err)
    assert "a/b/d" in errors


def test_secrets_go_and_long_texts_are_cut(capsys: pytest.CaptureFixture[str]) -> None:
    key = "sk-proj-" + "a1B2" * 12
    early = EarlyFindings("text", None)
    early.show([judged(plain_finding(message=f"{'x' * 200} got {key}", expected=(), got=""))])
    printed = capsys.readouterr().err
    assert not any(key[at : at + 12] in printed for at in range(8, len(key) - 12))
    early.show([judged(plain_finding(rule="a/b/d", message="no\x1b[2J\n" + "y" * 9000))])
    (line,) = capsys.readouterr().err.splitlines()
    assert "\x1b" not in line
    assert len(line) < 400


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("format_", "shown"), [("text", True), ("json", False)])
def test_another_format_has_lines_on_a_terminal_alone(
    format_: str, shown: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    EarlyFindings(format_, None).show([judged(*rules("c"))])
    assert bool(capsys.readouterr().err) is shown
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    EarlyFindings(format_, None).show([judged(*rules("c"))])
    assert terminal.getvalue().startswith(f"{CLEARED}so far: FAIL MUST a/b/c")


def test_a_run_says_them_above_its_report_and_not_in_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(chatty, "APP", chatty.Chatty(thoughtless=True))
    wanted = "so far: FAIL MUST scenario/thinking in openai.chat think/stream: expected thinking"
    assert main([*APP, "--scenario", "think", "-o", f"json={tmp_path / 'r.json'}"]) == 1
    out = capsys.readouterr()
    assert wanted in out.err
    assert "so far" not in out.out
    assert "so far" not in (tmp_path / "r.json").read_text(encoding="utf-8")
    monkeypatch.setattr(chatty, "APP", chatty.Chatty(thoughtless=True))
    assert main([*APP, "--scenario", "think", "--format", "markdown"]) == 1
    assert capsys.readouterr().err == ""
