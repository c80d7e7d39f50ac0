from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance import __version__
from conformance.cli import check, main
from conformance.core.errors import SpecError
from conformance.judging.result import AnswerError, Report, StreamResult
from conformance.recordings.progress import CheckProgress
from conformance.rules.verdicts import Level, Verdict
from tests.plain_results import plain_finding

Judge = Callable[..., list[dict[str, Any]]]


def stream(verdict: Verdict | None = None, level: Level | None = None) -> StreamResult:
    finding = plain_finding(level=level or Level.MUST, id="77")
    return StreamResult(
        file="x.sse",
        exchange=1,
        dialect="openai.chat",
        profile="strict",
        named=True,
        verdicts={"a/b/c": verdict} if verdict else {},
        findings=(finding,) if level else (),
    )


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Replace the engine: it finds what it is told, and says how it was called."""

    def declare(*streams: StreamResult, errors: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []

        def judged(paths: list[Path], **options: Any) -> Report:
            calls.append({"paths": paths, **options})
            return Report(streams, errors)

        monkeypatch.setattr(check, "check_paths", judged)
        return calls

    return declare


ONLY_ERROR = replace(stream(Verdict.PASS), error=AnswerError(1, "busy", "Slow down", is_all=True))
CODES: list[tuple[list[StreamResult], list[str], tuple[str, ...], int]] = [
    # streams, options, errors, exit code
    ([stream(Verdict.PASS)], [], (), 0),
    ([stream(Verdict.FAIL, Level.MUST)], [], (), 1),
    ([stream(Verdict.FAIL, Level.SHOULD)], [], (), 0),
    ([stream(Verdict.FAIL, Level.SHOULD)], ["--strict"], (), 1),
    ([stream(Verdict.FAIL, Level.MAY)], ["--strict"], (), 0),
    ([stream(Verdict.VACUOUS)], [], (), 0),
    ([stream(Verdict.VACUOUS)], ["--require-exercised"], (), 1),
    ([stream(Verdict.INCONCLUSIVE)], ["--require-exercised"], (), 1),
    ([stream(Verdict.FAIL, Level.MUST)], [], ("y.sse: is empty",), 2),
    ([], [], ("y.sse: is empty",), 2),
    ([stream(Verdict.ERROR)], [], ("y.sse: is empty",), 4),
    ([], [], (), 5),
    ([stream()], [], (), 5),  # a stream that no rule looked at
    ([stream(Verdict.PASS), ONLY_ERROR], [], (), 5),
    ([stream(Verdict.FAIL, Level.MUST), ONLY_ERROR], [], (), 1),
]


@pytest.mark.parametrize(("streams", "options", "errors", "code"), CODES)
def test_the_exit_code_is_the_first_that_applies(
    streams: list[StreamResult],
    options: list[str],
    errors: tuple[str, ...],
    code: int,
    judge: Judge,
) -> None:
    judge(*streams, errors=errors)
    assert main(["check", "x.sse", *options]) == code


def test_error_answer_is_on_stderr(judge: Judge, capsys: pytest.CaptureFixture[str]) -> None:
    judge(ONLY_ERROR)
    main(["check", "x.sse", "--format", "json"])
    assert capsys.readouterr().err == "error: no answer came but an error: busy: Slow down\n"


def test_options_reach_the_engine(judge: Judge) -> None:
    calls = judge(stream(Verdict.PASS))
    arguments = "check a b --dialect d --profile p --suite s --suite t --rule wire/* --rule x"
    assert main(arguments.split()) == 0
    assert isinstance(calls[0].pop("progress"), CheckProgress)
    assert calls == [
        {
            "paths": [Path("a"), Path("b")],
            "dialect": "d",
            "profile": "p",
            "suites": ["s", "t"],
            "rules": ["wire/*", "x"],
            "as_of": None,
            "trust": (),
            "upstream": (),
            "jobs": None,
        }
    ]


def test_the_report_goes_to_stdout(judge: Judge, capsys: pytest.CaptureFixture[str]) -> None:
    judge(stream(Verdict.FAIL, Level.MUST))
    main(["check", "x.sse"])
    out, err = capsys.readouterr()
    assert "FAIL MUST a/b/c  x.sse:2 (event 1, byte 0)" in out
    assert out.endswith("1 rule over 1 stream: 1 FAIL (1 MUST); 1 finding\n")
    assert err == ""


def test_stdout_holds_the_format_alone(judge: Judge, capsys: pytest.CaptureFixture[str]) -> None:
    judge(stream(Verdict.PASS), errors=("y.sse: is empty",))
    main(["check", "x.sse", "--format", "json"])
    out, err = capsys.readouterr()
    assert json.loads(out)["summary"]["PASS"] == 1
    assert err == "error: y.sse: is empty\n"


def test_reports_are_written_next_to_stdout(
    judge: Judge, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge(stream(Verdict.PASS))
    json_file, junit_file = tmp_path / "r.json", tmp_path / "r.xml"
    arguments = ["check", "x", "-o", f"json={json_file}", "-o", f"junit={junit_file}", "-v"]
    assert main(arguments) == 0
    assert json.loads(json_file.read_text())["report"] == "1.0"
    assert junit_file.read_text().startswith("<?xml")
    assert "PASS           a/b/c" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options", [["-o", "nope"], ["-o", "pdf=x"], ["--format", "pdf"], ["-o", "json=-"]]
)
def test_a_wrong_output_is_reported_before_the_work(options: list[str], judge: Judge) -> None:
    calls = judge(stream(Verdict.PASS))
    assert main(["check", "x.sse", *options]) == 2
    assert calls == []


def test_check_needs_a_path(judge: Judge, capsys: pytest.CaptureFixture[str]) -> None:
    judge()
    assert main(["check"]) == 2
    assert capsys.readouterr().err.startswith("error: Missing argument")


def test_a_broken_suite_is_2_even_where_streams_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any, **__: Any) -> Report:
        raise SpecError("expected a map")

    monkeypatch.setattr(check, "check_paths", broken)
    assert main(["check", "x.sse"]) == 2
    assert capsys.readouterr().err == "error: expected a map\n"


def test_the_json_report_says_what_was_called_and_by_which_rules_it_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.sse"
    path.write_text(f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': []})}\n\n")
    options = ["--suite", "wire/chat", "--profile", "openai", "--format", "json"]
    secret = "https://jo:pass@a.test/v1"
    argv = ["conformance", "check", "-H", "x-key: hush", "--header=x: hush", secret, "a.sse"]
    monkeypatch.setattr(sys, "argv", argv)
    main(["check", str(path), *options])
    call = json.loads(capsys.readouterr().out)["call"]
    assert call["tool"] == {"name": "reasoning-conformance", "version": __version__}
    assert call["command"][2:] == [
        *("-H", "x-key: [redacted]", "--header=x: [redacted]"),
        *("https://[redacted]@a.test/v1", "a.sse"),
    ]
    assert call["target"] is None
    assert call["seconds"] >= 0
    [suite] = call["rules"]["suites"]
    assert (suite["id"], len(suite["sha256"])) == ("wire/chat", 64)
    [profile] = call["profiles"]
    assert (profile["dialect"], profile["name"]) == ("openai.chat", "openai")
    assert len(profile["sha256"]) == 64


OWN_RULE: Final = """suite: own/mine
rules:
  - id: short
    level: MUST
    says: No answer is a refusal.
    since: 0.1.0
    never: refusal.delta
    slice: [{field}]
"""
OWN_PROFILE: Final = """profile: mine
dialect: openai.chat
extends: strict
{line}
"""
OVERRIDE: Final = '{{{rule}: {{level: "off", because: "x", seen: "y"}}}}'


@pytest.mark.parametrize(
    ("option", "text", "warning"),
    [
        ("--suite", OWN_RULE.format(field="choice"), ""),
        (
            "--suite",
            OWN_RULE.format(field="chioce"),
            "x.yaml:8:12: no event of the rule",
        ),
        ("--suite", "suite: [", "error: x.yaml:2:1: "),
        ("--profile", OWN_PROFILE.format(line="promises: [history-always]"), ""),
        (
            "--profile",
            OWN_PROFILE.format(line="promises: [history-alway]"),
            "x.yaml:4:12: there is no promise 'history-alway' (did you mean 'history-always'?)",
        ),
        (
            "--profile",
            OWN_PROFILE.format(line=f"overrides: {OVERRIDE.format(rule='wire/chat/same-di')}"),
            "x.yaml:4:13: there is no rule 'wire/chat/same-di'",
        ),
    ],
)
def test_mistakes_in_files_of_ones_own_are_reported_where_they_are_used(
    option: str,
    text: str,
    warning: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_text(text)
    code = main(["check", "shipped:openai.chat/openai/padding-off", option, "x.yaml"])
    err = capsys.readouterr().err
    assert code == (2 if "error: " in warning else 0)
    assert warning in err
    assert err.count("x.yaml") == bool(warning)
