"""`conformance.yaml` under every verb: defaults, what wins over them, and what it may not do."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cli import main
from conformance.cli.verbs import VERBS, load_verb
from conformance.core.configuration import CONFIGURATION, NO_CONFIG
from conformance.core.shipped import cassettes

RECORDED: Final = "openai.chat/openai/padding-off.cassette.jsonl"
BROKEN: Final = "mutants/wire/chat/role-once.cassette.jsonl"
RULES: Final = """suite: own/answers
rules:
  - id: no-text
    level: MUST
    says: No text comes.
    since: 0.1.0
    never: text.delta
    breaks: [shown.sse]
"""
LAX: Final = """profile: lax
dialect: openai.chat
extends: strict
overrides:
  wire/chat/role-once: {level: "off", because: "So.", seen: "1 of 1"}
"""
UNCONCERNED: Final = {"board", "verify", "demo", "init", "markers", "schema"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that one stands in."""
    monkeypatch.chdir(tmp_path)
    Path("taken").mkdir()
    shutil.copy(cassettes() / RECORDED, "taken")
    Path("rules").mkdir()
    Path("rules/own.yaml").write_text(RULES, encoding="utf-8")
    return tmp_path


def configured(text: str) -> None:
    Path(CONFIGURATION).write_text(text, encoding="utf-8")


def options_of(verb: Any) -> set[str]:
    return {name for each in verb.params for name in each.opts}


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_that_it_concerns_can_leave_it_unread(name: str) -> None:
    verb = load_verb(name)
    each = getattr(verb, "commands", {}).values() or (verb,)
    concerned = name not in UNCONCERNED
    assert all(("--no-config" in options_of(one)) is concerned for one in each)


def test_check_judges_what_the_file_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == 2
    configured("recordings: taken\n")
    assert main(["check"]) == 0
    assert main(["check", "--no-config"]) == 2
    assert NO_CONFIG not in os.environ
    assert "Missing argument" in capsys.readouterr().err


def test_own_rules_are_judged_with_shipped_rules(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configured("recordings: taken\nsuites: [shipped, rules]\nstrict: true\n")
    assert main(["check", "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    verdicts = report["streams"][0]["verdicts"]
    assert verdicts["own/answers/no-text"] == "FAIL"
    assert "wire/chat/done-present" in verdicts
    assert not any(CONFIGURATION in note for note in report["notes"])  # nothing is excused


def test_the_command_line_wins(capsys: pytest.CaptureFixture[str]) -> None:
    configured("recordings: taken\nsuites: [shipped, rules]\nprofile: strict\n")
    assert main(["check", "taken", "--suite", "wire/chat", "--profile", "openai"]) == 0
    out = capsys.readouterr().out
    assert "conformance.yaml" not in out
    assert "own/answers" not in out


def test_reports_and_baselines_have_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    baseline = "entries:\n  - {rule: own/answers/no-text, exchange: padding-off, target: openai"
    Path("known.yaml").write_text(f"{baseline}, reason: 'It says so.'}}\n", encoding="utf-8")
    configured(
        "recordings: taken\nsuites: [shipped, rules]\nexpected-failures: known.yaml\n"
        "reports: {json: report.json}\n"
    )
    assert main(["check"]) == 0
    note = "conformance.yaml sets expected-failures (--no-config judges without)"
    assert f"note: {note}" in capsys.readouterr().out
    assert note in json.loads(Path("report.json").read_text(encoding="utf-8"))["notes"]


def test_a_profile_of_the_file_excuses_nothing_unseen(capsys: pytest.CaptureFixture[str]) -> None:
    """The file may have come with the recordings."""
    shutil.copy(cassettes() / BROKEN, "taken")
    Path("lax.yaml").write_text(LAX, encoding="utf-8")
    call = ["check", "taken", "--rule", "wire/chat/role-once"]
    assert main(call) == 1
    configured("profile: lax.yaml\n")
    assert main(call) == 0
    assert "note: conformance.yaml sets profile (--no-config" in capsys.readouterr().out
    assert main([*call, "--no-config"]) == 1


def test_only_own_rules_are_named_as_a_change(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configured("suites: [rules]\n")
    assert main(["check", "taken"]) == 1
    assert "note: conformance.yaml sets suites (--no-config" in capsys.readouterr().out


def test_verbs_without_a_report_say_it_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    configured("profile: openai\n")
    assert main(["diff", f"taken/{Path(RECORDED).name}", f"taken/{Path(RECORDED).name}"]) == 0
    assert capsys.readouterr().err == (
        "note: conformance.yaml sets profile (--no-config judges without)\n"
    )


def test_examples_of_the_file_are_tried(capsys: pytest.CaptureFixture[str]) -> None:
    chunk = {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": "x"}}],
    }
    Path("rules/shown.sse").write_text(f"data: {json.dumps(chunk)}\n\n", encoding="utf-8")
    configured("suites: [shipped, rules]\n")
    assert main(["test"]) == 0
    assert "own/answers/no-text breaks 1: ok" in capsys.readouterr().out
    assert main(["test", "--no-config"]) == 2


def test_rules_of_the_file_are_explained_and_listed(capsys: pytest.CaptureFixture[str]) -> None:
    configured("suites: [shipped, rules]\n")
    for call in (["explain", "no-text"], ["list", "rules"]):
        assert main(call) == 0
        assert "own/answers/no-text" in capsys.readouterr().out
    assert main(["list", "rules"]) == 0
    both = capsys.readouterr().out.splitlines()
    assert main(["list", "rules", "--no-config"]) == 0
    shipped = capsys.readouterr().out.splitlines()
    assert len(both) == len(shipped) + 1
    assert main(["list", "--system", "opal"]) == 0


def test_shells_complete_targets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_CONFORMANCE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "conformance run --target h")
    monkeypatch.setenv("COMP_CWORD", "3")
    for text, offered in ((TARGETS, ["here"]), ("targets: {h: {}}", []), ("", [])):
        configured(text)
        with pytest.raises(SystemExit):
            main([])
        captured = capsys.readouterr()
        assert (captured.out.split(), captured.err) == (offered, "")


def test_trust_and_importers_are_left_unread_too(capsys: pytest.CaptureFixture[str]) -> None:
    configured("trust: nowhere\n")
    assert main(["check", "taken"]) == 2
    assert "nowhere: trusted, but no such file" in capsys.readouterr().err
    assert main(["check", "taken", "--no-config"]) == 0
    configured("importers: [{name: x}]\n")
    assert main(["list", "files"]) == 2
    assert main(["list", "files", "--no-config"]) == 0


def test_a_mistake_stops_every_verb_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    configured("profil: strict\n")
    for call in (
        ["check", "taken"],
        ["list", "rules"],
        ["identify", f"taken/{Path(RECORDED).name}"],
    ):
        assert main(call) == 2
        text = "error: conformance.yaml:1:1: unknown key 'profil' (did you mean 'profile'?)\n"
        assert capsys.readouterr().err == text
    assert main(["check", "--help"]) == 0


ASKED: Final[list[dict[str, str]]] = []


async def listening(scope: Any, receive: Any, send: Any) -> None:
    """An application that refuses everything, and keeps what it was sent."""
    del receive
    if scope["type"] == "http":
        ASKED.append({name.decode(): value.decode() for name, value in scope["headers"]})
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})


TARGETS: Final = f"""targets:
  here:
    asgi: {__name__}:listening
    api: chat
    model: m
    profile: strict
    scenarios: [think]
    api-key-env: MY_KEY
    headers: {{x-tenant: MY_TENANT}}
  there: {{url: "http://127.0.0.1:1/v1", headers: {{x-tenant: MY_TENANT}}}}
"""


def test_a_target_is_called_where_it_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", "drawn-4f5Ab1cAb1cAb1c")
    monkeypatch.setenv("MY_TENANT", "tenant-9Xq2Lm7Rt4Vb")
    configured(TARGETS)
    ASKED.clear()
    main(["run", "--target", "here"])
    captured = capsys.readouterr()
    message = f"here: asgi {__name__}:listening; sends $MY_KEY, $MY_TENANT"
    assert captured.err.startswith(f"conformance.yaml:2:3: {message}\n")
    assert ASKED[0]["authorization"] == "Bearer drawn-4f5Ab1cAb1cAb1c"
    assert ASKED[0]["x-tenant"] == "tenant-9Xq2Lm7Rt4Vb"
    assert "tenant-9Xq2Lm7Rt4Vb" not in captured.out + captured.err


def test_nothing_of_a_target_counts_unless_it_alone_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", "drawn-4f5Ab1cAb1cAb1c")
    configured(TARGETS)
    ASKED.clear()
    app = [
        "--asgi",
        f"{__name__}:listening",
        "--api",
        "chat",
        "--model",
        "m",
        "--scenario",
        "think",
    ]
    main(["run", *app, "--target", "here", "--profile", "strict"])
    main(["run", *app, "--target", "elsewhere", "--profile", "strict"])
    assert ASKED
    assert all("authorization" not in each and "x-tenant" not in each for each in ASKED)
    assert "sends" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            ["run"],
            "the call names nothing to ask (conformance.yaml has here, there: --target NAME)",
        ),
        (["run", "--target", "her"], "has no target 'her' (did you mean 'here'?)"),
        (["record", "-o", "a.cassette.jsonl"], "the call names nothing to ask"),
        (["run", "--target", "there"], "--header-env x-tenant: $MY_TENANT holds no value of a"),
    ],
)
def test_a_target_that_cannot_be_called_is_one_line(
    call: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(TARGETS)
    ASKED.clear()
    assert main([*call, *(["--profile", "strict"] if call[0] == "run" else [])]) == 2
    assert message in capsys.readouterr().err
    assert ASKED == []


def test_a_verb_that_takes_one_refuses_several(capsys: pytest.CaptureFixture[str]) -> None:
    configured("targets: {here: {url: 'http://127.0.0.1:1', api: [chat, responses]}}\n")
    assert main(["record", "--target", "here", "-o", "a.cassette.jsonl"]) == 2
    assert "conformance.yaml:1:50: record takes one api, this names 2" in capsys.readouterr().err


def test_a_baseline_that_is_not_there_is_reported_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conformance.yaml").write_text("expected-failures: gone.yaml\n")
    (tmp_path / "a.sse").write_text("data: {}\n\n")
    assert main(["check", "a.sse"]) == 2
    assert "conformance.yaml:1:20: no such file: 'gone.yaml'" in capsys.readouterr().err
