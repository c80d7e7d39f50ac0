"""`conformance run --client` and `convert --to vectors` as a user calls them."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import jsonschema_rs
import pytest

from conformance.cli import main
from conformance.core import shipped
from conformance.core.shipped import cassettes
from conformance.rules.verdicts import Verdict
from conformance.targets.client import ClientOptions, run_client

FAKE = shlex.join([sys.executable, str(Path(__file__).with_name("client_fake.py"))])
REFERENCE = shlex.join([sys.executable, "-m", "reference_impl.client", "harness"])
SHORT = str(shipped.cassettes() / "openai.chat/deepseek/thinking-then-text.cassette.jsonl")
RUN = ["run", "--cases", "quick", "--cassette", SHORT]


def test_a_right_client_conforms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--client", REFERENCE]) == 0
    assert "note: reference-client" in capsys.readouterr().out


def test_a_finding_says_in_which_replay_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--client", f"{REFERENCE} --defect marker-leak"]) == 1
    out = capsys.readouterr().out
    assert "FAIL MUST stripping/visible-text/no-markers" in out
    assert "(in 1 of 2 replays: recorded)" in out


def test_a_report_names_the_client_as_its_target(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    chosen = ["--client", f"{REFERENCE} --defect opaque-lost", "-o", f"json={report}"]
    assert main([*RUN, *chosen, "--format", "json"]) == 0
    streams = json.loads(report.read_text("utf-8"))["streams"]
    called = "openai.chat/deepseek/thinking-then-text"
    assert any(called in json.dumps(stream) for stream in streams)


def test_baseline_holds_client_failures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    baseline = tmp_path / "expected.yaml"
    names = ["openai.chat/deepseek/thinking-then-text/1", "stored/form-2", "stored/form-3"]
    entry = {"rule": "thinking/client/agrees-with-wire", "exchange": names, "reason": "it is known"}
    target = f"reference-client-{version('reasoning-conformance')}"
    baseline.write_text(json.dumps({"target": target, "entries": [entry]}), "utf-8")
    # One delta is all the text that a stored turn has, and of this recording the first is lost.
    broken = ["--client", f"{REFERENCE} --defect drop-on-boundary-chunk", "--rule", "thinking/cl*"]
    code = main([*RUN, *broken, "--expected-failures", str(baseline)])
    assert "3 of them expected" in capsys.readouterr().out
    assert code == 0


@pytest.mark.parametrize(
    ("mode", "code", "message"),
    [
        ("plain", 0, ""),
        ("crashes", 4, "ended with exit status 7; stderr ends: the last words"),
        ("prints", 2, "the adapter wrote 'Loading checkpoint shards'"),
        ("undeclared", 2, "its introduction does not declare this event"),
        ("old", 2, "does not speak version 1"),
        ("says-why", 4, "asked nothing; the adapter says failed: TypeError: no such model"),
    ],
)
def test_exit_codes(mode: str, code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--client", f"{FAKE} {mode}"]) == code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "more", [["--url", "http://127.0.0.1:1"], ["--scenario", "think"], ["--plan"], ["--model", "m"]]
)
def test_server_options_are_refused(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--client", "cat", *more]) == 2
    assert "do not go together" in capsys.readouterr().err


def test_no_recording_that_fits_is_nothing_selected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--client", REFERENCE, "--api", "messages"]) == 5
    assert "the client answered no case" in capsys.readouterr().err


def test_vectors_are_written_by_their_schema(tmp_path: Path) -> None:
    assert main(["convert", SHORT, str(tmp_path / "out"), "--to", "vectors"]) == 0
    (made,) = (tmp_path / "out").iterdir()
    text = (files("conformance.schemas") / "vectors.schema.json").read_text(encoding="utf-8")
    vectors = json.loads(made.read_text("utf-8"))
    jsonschema_rs.validate(json.loads(text), vectors)
    assert made.name == "thinking-then-text-1.vectors.json"
    assert {"recorded", "seed:20", "cut event:3"} <= {case["name"] for case in vectors["cases"]}


def test_vectors_need_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = str(shipped.cassettes() / "openai.chat/reference/models.cassette.jsonl")
    assert main(["convert", models, str(tmp_path), "--to", "vectors"]) == 2
    assert "holds no answer to a client" in capsys.readouterr().err


CONSUMER = [sys.executable, str(Path(__file__).with_name("consumer_of_ui_messages.py"))]


def test_an_interface_shows_what_an_application_sent() -> None:
    recorded = cassettes() / "vercel.ui/ai-sdk/thinking-then-text.cassette.jsonl"
    ran = run_client(CONSUMER, [recorded], ClientOptions(extent="quick"))
    assert ran.report.verdicts["thinking/client/agrees-with-wire"] is Verdict.PASS
    assert [(f.rule, f.message) for f in ran.report.findings] == []
