"""`list`, `explain`, `lint` and `demo`, over hand-made rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema_rs
import pytest

from conformance import Checker
from conformance.cli import demo, explain, lint, main
from conformance.cli import list as list_verb
from conformance.core.errors import Place
from conformance.dialects import SUPPORTED
from conformance.judging.result import Finding, Report, StreamResult
from conformance.profiles.lookup import has_profile
from conformance.rules.alias import Alias
from conformance.rules.forms.never import Never
from conformance.rules.model import Rule, Suite
from conformance.rules.verdicts import Level, Verdict


def rule(name: str) -> Rule:
    return Rule(
        id=f"wire/chat/{name}",
        level=Level.MUST,
        says=f"It is {name}.",
        source=({"observed": "8 of 8 recordings"},),
        since="0.1.0",
        form=Never(events=("done",)),
        aliases={"done": Alias("done", "[DONE]")},
        place=Place("chat.yaml", 3),
        dialects=("openai.chat",),
    )


FINDING = Finding(
    rule="wire/chat/late",
    level=Level.MUST,
    verdict=Verdict.FAIL,
    event=3,
    line=4,
    byte=40,
    slice={},
    expected=("[DONE]",),
    got="chat.chunk",
    after="",
    message="expected [DONE], got chat.chunk",
    says="It is late.",
    hint="",
    context=(),
    source=(),
    id="77",
)


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rules in one suite, no profiles, one excerpt."""

    def suites(extra: Sequence[str]) -> tuple[Suite, ...]:
        assert list(extra) in ([], ["own.yaml"])
        return (
            Suite("wire/chat", "Chat", ("openai.chat",), (rule("late"), rule("soon")), "c.yaml"),
        )

    def example(rule_id: str) -> Any:
        failing = ("data: {}",) if rule_id == "wire/chat/late" else ()
        return SimpleNamespace(passing=(), failing=failing, finding=FINDING if failing else None)

    monkeypatch.setattr(list_verb, "load_suites", suites)
    monkeypatch.setattr(explain, "load_suites", suites)
    monkeypatch.setattr(explain, "rule_example", example)
    monkeypatch.setattr(explain, "available", lambda _folders: ())


@pytest.mark.usefixtures("shipped")
def test_rules_are_listed_one_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "rules", "--suite", "own.yaml"]) == 0
    assert capsys.readouterr().out == (
        "wire/chat/late  MUST  openai.chat  It is late.  0.1.0\n"
        "wire/chat/soon  MUST  openai.chat  It is soon.  0.1.0\n"
    )


@pytest.mark.usefixtures("shipped")
def test_lists_are_data_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "suites", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "suites": [{"id": "wire/chat", "rules": 2, "dialect": "openai.chat", "title": "Chat"}]
    }


@pytest.mark.usefixtures("shipped")
def test_every_list_fits_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert list(listed) == [
        *("rules", "suites", "profiles", "dialects", "scenarios", "systems", "files", "cassettes")
    ]
    main(["schema", "list"])
    schema = json.loads(capsys.readouterr().out)
    jsonschema_rs.validate(schema, listed)
    assert not jsonschema_rs.is_valid(schema, {"rules": [{}]})


def test_rules_of_a_profile_judge_its_streams(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["list", "rules", "--profile", "opal", "--format", "json"]) == 0
    listed = {each["id"]: each for each in json.loads(capsys.readouterr().out)["rules"]}
    assert main(["list", "rules", "--format", "json"]) == 0
    every = {each["id"]: each for each in json.loads(capsys.readouterr().out)["rules"]}
    checkers = [Checker(each, "opal") for each in SUPPORTED if has_profile(each, "opal")]
    judging = {
        rule
        for checker in checkers
        for rule, verdict in checker.check(()).verdicts.items()
        if verdict is not Verdict.NOT_APPLICABLE
    }
    assert set(listed) == judging
    assert set(listed) < set(every)
    assert "wire/gemini/role-known" not in listed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rules", "--profile", "opaal"], "no profile 'opaal' (did you mean 'opal'?)"),
        (["suites", "--profile", "opal"], "--profile goes with list rules"),
        (["--profile", "opal"], "--profile goes with list rules"),
    ],
)
def test_a_profile_narrows_rules_only(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_scenarios_are_listed_with_whom_they_are_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "scenarios", "--format", "json"]) == 0
    listed = {each["name"]: each for each in json.loads(capsys.readouterr().out)["scenarios"]}
    sides = {name: listed[name]["side"] for name in ("think", "gateway-answer")}
    assert sides == {"think": "server", "gateway-answer": "gateway"}
    assert any(each["side"] == "application" for each in listed.values())
    assert listed["tools"]["needs"] == "tools"


def test_dialects_are_listed_with_what_is_supported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "dialects", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)["dialects"]
    assert {"name": "openai.chat", "supported": True} in listed


@pytest.mark.parametrize("arguments", [["colours"], ["rules", "--format", "xml"]])
def test_a_wrong_list_is_2(arguments: list[str]) -> None:
    assert main(["list", *arguments]) == 2


@pytest.mark.usefixtures("shipped")
def test_explain_takes_a_part_of_the_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "late"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("wire/chat/late  MUST (a violation exits 1)\n  It is late.\n")
    assert "  finding: expected [DONE], got chat.chunk\n" in out


@pytest.mark.usefixtures("shipped")
def test_explain_names_the_nearest_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "wire/chat/lat3"]) == 2
    assert "did you mean 'wire/chat/late'?" in capsys.readouterr().err


PROBLEMS: list[tuple[list[str], list[str], int]] = [
    ([], [], 0),
    (["warning"], [], 0),
    (["warning"], ["--strict"], 1),
    (["warning", "error"], [], 2),
    (["error"], ["--strict"], 2),
]


@pytest.mark.parametrize(("severities", "options", "code"), PROBLEMS)
def test_lint_reports_each_problem_and_how_grave(
    severities: list[str],
    options: list[str],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    problems = [
        SimpleNamespace(place=Place("a.yaml", 3, 1), message="odd", severity=severity, code="")
        for severity in severities
    ]
    monkeypatch.setattr(lint, "lint_paths", lambda _paths: problems)
    assert main(["lint", "a.yaml", *options]) == code
    *lines, last = capsys.readouterr().out.splitlines()
    assert lines == [f"a.yaml:3:1: {severity}: odd" for severity in severities]
    assert last.startswith(f"{severities.count('error')} error")


@pytest.fixture
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (demo.GOOD, demo.BROKEN):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(demo, "cassettes", lambda: tmp_path)
    return tmp_path


def judged_as(monkeypatch: pytest.MonkeyPatch, *, faults: str) -> None:
    def judge(paths: list[Path], **_: Any) -> Report:
        findings = (FINDING,) if faults in str(paths[0]) else ()
        verdicts = {FINDING.rule: Verdict.FAIL if findings else Verdict.PASS}
        return Report(
            (StreamResult(paths[0].name, 1, "openai.chat", "strict", True, verdicts, findings),)
        )

    monkeypatch.setattr(demo, "check_paths", judge)


@pytest.mark.usefixtures("shipped", "recordings")
def test_demo_ends_with_an_explained_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judged_as(monkeypatch, faults="mutants")
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    parts = [
        "1 PASS",
        "FAIL MUST wire/chat/late",
        "1 FAIL (1 MUST)",
        "conformance explain",
        "Next:",
    ]
    places = [out.index(part) for part in parts]
    assert places == sorted(places)


@pytest.mark.usefixtures("shipped", "recordings")
@pytest.mark.parametrize("faults", ["openai.responses", "nowhere"])
def test_demo_fails_on_wrong_verdicts(faults: str, monkeypatch: pytest.MonkeyPatch) -> None:
    judged_as(monkeypatch, faults=faults)
    assert main(["demo"]) == 4


def test_demo_names_missing_files(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (recordings / demo.GOOD).unlink()
    assert main(["demo"]) == 4
    assert f"error: the demo recording {demo.GOOD} was not shipped" in capsys.readouterr().err
