"""A finding of a client names one command that shows it again."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from conformance.cli import main

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
