"""`conformance run` as a user calls it; targets are applications in this process."""

from __future__ import annotations

import json
import shlex
import socket
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.core.shipped import cassettes
from tests.fakes import chatty

APP = ["run", "--asgi", "tests.fakes.chatty:APP", "--api", "chat", "--profile", "strict"]


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fresh server for every test."""
    monkeypatch.setattr(chatty, "APP", chatty.Chatty())


def serve(monkeypatch: pytest.MonkeyPatch, **switched: Any) -> chatty.Chatty:
    server = chatty.Chatty(**switched)
    monkeypatch.setattr(chatty, "APP", server)
    return server


def test_a_right_server_conforms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*APP, "--scenario", "think"]) == 0
    out = capsys.readouterr()
    assert "note: 5 requests" in out.out
    assert out.err == ""


def test_findings_exit_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(monkeypatch, thoughtless=True)
    assert main([*APP, "--scenario", "think"]) == 1
    assert "FAIL MUST scenario/thinking  openai.chat/think" in capsys.readouterr().out


def test_a_plan_sends_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = serve(monkeypatch)
    assert main([*APP, "--plan", "--max-tokens", "100", "--scenario", "think"]) == 0
    out = capsys.readouterr().out
    assert "5 requests, 500 output tokens at most; nothing was sent" in out
    assert server.asked == []


def test_the_only_model_is_requested(monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(monkeypatch)
    assert main([*APP, "--scenario", "think"]) == 0
    assert server.asked[-1]["model"] == "chatty"


def test_reports_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    junit = tmp_path / "report.xml"
    options = ["--format", "json", "-o", f"junit={junit}", "--scenario", "think"]
    assert main([*APP, *options]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == "1.0"
    assert junit.read_text(encoding="utf-8").startswith("<?xml")


def test_what_was_received_is_saved(tmp_path: Path) -> None:
    assert main([*APP, "--scenario", "think", "--save", str(tmp_path / "new")]) == 0
    kept = sorted(path.name for path in (tmp_path / "new" / "openai.chat").iterdir())
    assert kept == ["sanity.cassette.jsonl", "think.cassette.jsonl"]
    assert main(["check", "--strict", str(tmp_path / "new")]) == 0


def test_a_baseline_excuses_what_it_lists(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    serve(monkeypatch, thoughtless=True)
    lines = [
        f"- {{rule: scenario/thinking, exchange: think/{role}, reason: It hides thinking.}}"
        for role in ("stream", "body")
    ]
    baseline = tmp_path / "known.yaml"
    head = "target: chatty-1\nentries:\n"
    baseline.write_text(head + "".join(f"  {line}\n" for line in lines), encoding="utf-8")
    known = ["--target", "chatty-1", "--expected-failures", str(baseline)]
    assert main([*APP, "--scenario", "think", *known]) == 0
    serve(monkeypatch)
    assert main([*APP, "--scenario", "think", *known]) == 1  # the entries are stale


def test_a_server_that_dies_exits_3_after_the_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(monkeypatch, dies_after=4)
    assert main([*APP, "--model", "chatty", "--scenario", "think"]) == 3
    out = capsys.readouterr()
    assert "error: the server no longer answers" in out.err
    assert "rules over" in out.out


def test_findings_count_more_than_a_server_that_dies(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = [*APP, "--model", "chatty", "--scenario", "think"]
    serve(monkeypatch, dies_after=4, thoughtless=True)
    assert main(wanted) == 1
    assert "error: the server no longer answers" in capsys.readouterr().err
    # What is only missing because nobody answered is no finding.
    serve(monkeypatch, dies_after=4)
    assert main([*wanted, "--require-exercised"]) == 3
    known = tmp_path / "known.yaml"
    entry = "{rule: scenario/thinking, exchange: 1, reason: r}"
    known.write_text(f"target: chatty-1\nentries:\n  - {entry}\n", encoding="utf-8")
    serve(monkeypatch, dies_after=4)
    assert main([*wanted, "--target", "chatty-1", "--expected-failures", str(known)]) == 3


def test_nobody_there_exits_3(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["run", "--url", "http://127.0.0.1:1", "--model", "m"]
    assert main(wanted) == 3
    err = capsys.readouterr().err
    assert err.startswith("error: 127.0.0.1:1: cannot connect: nothing listens there")
    assert err.count("\n") == 1


GATEWAY = ["run", "--gateway", "http://127.0.0.1:1", "--upstream-port", "0", "--model", "m"]
MODELS = str(cassettes() / "openai.chat/reference/models.cassette.jsonl")


def test_waiting_gateway_shows_its_request(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """vllm-router listens once its server is well; which path that is only it knows."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    asking = threading.Thread(target=ask_until_answered, args=(f"http://127.0.0.1:{port}/ready",))
    asking.start()
    wanted = ["run", "--gateway", "http://127.0.0.1:1", "--upstream-port", str(port)]
    assert main([*wanted, "--wait", "2", "--profile", "strict"]) == 3
    asking.join()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: 127.0.0.1: nothing listens there after 2 s; meanwhile port")
    assert "got GET /ready (HTTP 404)" in line


def ask_until_answered(url: str) -> None:
    for _ in range(1000):
        try:
            urllib.request.urlopen(url, timeout=10).close()
        except urllib.error.HTTPError as answered:
            answered.close()
            return
        except OSError:
            threading.Event().wait(0.01)


def test_the_plan_of_recordings_of_a_gateway(capsys: pytest.CaptureFixture[str]) -> None:
    path = cassettes() / "openai.chat/deepseek/tool-round.cassette.jsonl"
    assert main([*GATEWAY, "--cassette", str(path), "--api", "messages", "--plan"]) == 0
    out = capsys.readouterr().out
    assert "tool-round/exchange-1" in out
    assert "gateway-answer" not in out


def test_an_api_without_the_named_profile_is_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    app = ["run", "--asgi", "tests.fakes.chatty:APP", "--profile", "groq"]
    assert main([*app, "--plan"]) == 0
    planned = capsys.readouterr().out
    assert "openai.chat, " in planned
    assert "openai.responses was not run: no profile 'groq' for openai.responses" in planned
    main([*app, "--model", "chatty", "--scenario", "models"])
    printed = capsys.readouterr().out
    assert "note: anthropic.messages was not run: no profile 'groq'" in printed


WRONG: list[tuple[list[str], str]] = [
    (["run"], "expected one target"),
    (["run", "--url", "http://x", "--asgi", "a:b"], "expected one target"),
    (["run", "--url", "nonsense"], "expected an http or https URL"),
    (["run", "--asgi", "no_such_module:app", "--model", "m"], "cannot load"),
    ([*APP, "--api", "telepathy"], "no API is called 'telepathy'"),
    ([*APP, "--without", "thinkin"], "did you mean 'thinking'?"),
    ([*APP, "--scenario", "nothing-like-it"], "no scenario"),
    ([*APP, "--profile", "nobody"], "no profile 'nobody'"),
    ([*APP, "--profile", "chatgpt-codex"], "no profile 'chatgpt-codex' for openai.chat"),
    ([*APP, "--api", "responses", "--profile", "groq"], "no profile 'groq' for openai.responses"),
    ([*APP, "-H", "Authorization: Bearer x"], "--api-key-env"),
    ([*APP, "-H", "no colon"], "expected -H"),
    ([*APP, "-H", "a: b\r\nc: d"], "expected -H"),
    ([*APP, "--api-key-env", "NOT_SET_ANYWHERE"], "$NOT_SET_ANYWHERE holds no key"),
    ([*APP, "--jobs", "0"], "--jobs"),
    ([*APP, "--format", "poem"], "poem"),
    ([*APP, "-o", "json"], "FORMAT=FILE"),
    ([*APP, "--cassette", "x"], "--cassette goes with --client and --gateway"),
    ([*GATEWAY, "--cassette", "not-there"], "not-there: no such file or folder"),
    ([*GATEWAY, "--cassette", MODELS], "no recorded answer to serve"),
    (["run", "--gateway", "http://x"], "--gateway URL and --upstream-port N go together"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[" ".join(e[0][-2:]) for e in WRONG])
def test_a_wrong_call_exits_2_with_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_ci_wants_a_profile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", "true")
    assert main(["run", "--asgi", "tests.fakes.chatty:APP"]) == 2
    assert "under CI a profile must be named" in capsys.readouterr().err
    auto = ["run", "--asgi", "tests.fakes.chatty:APP", "--api", "chat", "--profile", "auto"]
    assert main([*auto, "--scenario", "think"]) == 0


def test_the_key_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = serve(monkeypatch, key="s3cret-key")
    monkeypatch.setenv("CHATTY_KEY", "s3cret-key")
    options = ["--scenario", "think", "--api-key-env", "CHATTY_KEY", "-H", "X-Team: tests"]
    assert main([*APP, *options]) == 0
    assert server.headers[-1]["x-team"] == "tests"
    assert "s3cret-key" not in capsys.readouterr().out


def test_require_exercised_counts_gaps() -> None:
    assert main([*APP, "--scenario", "think", "--require-exercised"]) == 1
    only = ["--suite", "stripping/visible-text", "--rule", "*/no-markers"]
    assert main([*APP, "--scenario", "think", *only, "--require-exercised"]) == 0


def test_nothing_selected_exits_5(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*APP, "--scenario", "opt-in"]) == 5
    assert "error: no scenario was run" in capsys.readouterr().err


CLIENT = f"{sys.executable} -m reference_impl.client harness --defect thinking-dropped"
RECORDING = "shipped:openai.chat/client/thinking-then-text"
CALL = ["run", "--client", CLIENT, "--api", "chat", "--rule", "thinking/client/*"]


def found(capsys: pytest.CaptureFixture[str], *call: str) -> tuple[int, list[dict[str, str]]]:
    code = main([*call, "--format", "json"])
    streams = json.loads(capsys.readouterr().out)["streams"]
    return code, [finding for stream in streams for finding in stream["findings"]]


def test_a_finding_is_shown_again_by_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    code, findings = found(capsys, *CALL, "--cassette", RECORDING, "--only", "seed:3")
    assert code == 1
    (finding,) = findings
    assert finding["message"].endswith("(in 1 of 1 replay: seed:3)")
    lost = 'are not equal at 0: nothing (elements: 4) against {"type": "thinking.d'
    assert lost in finding["message"]
    assert "(elements: 5); all thinking is lost" in finding["message"]
    tool, *again = shlex.split(finding["reproduce"])
    assert tool == "conformance"
    assert again[-4:] == ["--cassette", RECORDING, "--only", "seed:3"]
    code, once_more = found(capsys, *again)
    assert code == 1
    assert finding["id"] in [each["id"] for each in once_more]


def test_the_text_has_the_command_and_a_short_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CALL, "--cassette", RECORDING, "--only", "recorded"]) == 1
    out = capsys.readouterr().out
    assert f"FAIL MUST thinking/client/agrees-with-wire  {RECORDING} (event " in out
    assert "  again     conformance run --client " in out


def test_a_replay_that_is_not_there_judges_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CALL, "--cassette", RECORDING, "--only", "seed:0"]) == 5
    assert main(["run", "--url", "http://127.0.0.1:1", "--only", "seed:1"]) == 2
    assert "--only goes with --client" in capsys.readouterr().err
