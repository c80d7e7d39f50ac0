"""No report shows a key, whatever its format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.judging.result import ContextLine, Report
from conformance.recordings.check import check_paths
from conformance.report import FORMATS, render
from conformance.report.redacted import redact_report
from tests.report.made import finding, stream

KEY = "sk-proj-1234567890abcdefGHIJKL"
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def leaking(folder: Path) -> Path:
    """A stream that echoes a key where rules quote it: in a role, a text and an error."""
    delta = {"role": f"Bearer {KEY}", "content": f"<think>{KEY}</think>"}
    chunk = {**CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": KEY}]}
    error = {"error": {"message": f"wrong key {KEY}", "code": KEY}}
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in (chunk, error))
    lines = [
        {"cassette": "1.0", "dialect": "openai.chat", "profile": "strict"},
        {"request": {"path": f"/v1?key={KEY}", "headers": [["cookie", KEY]], "json": {"k": KEY}}},
        {"response": {"status": 200, "headers": [["content-type", "text/event-stream"]]}},
        {"text": body},
        {"end": "eof"},
    ]
    file = folder / "leaking.cassette.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_shows_key(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = leaking(tmp_path)
    assert [f.rule for f in check_paths([file]).findings] == [
        "stripping/visible-text/no-markers",
        "wire/chat/finish-known",
        "wire/chat/role-known",
    ]
    out = tmp_path / "out"
    assert main(["check", str(file), "--format", name, "-o", f"{name}={out}", "-v"]) == 1
    shown = capsys.readouterr().out
    assert len(shown) > 50
    assert KEY[8:] not in shown
    assert KEY[8:] not in out.read_text()


def test_every_text_of_a_finding_passes() -> None:
    secret = finding(
        message=KEY,
        expected=(KEY,),
        got=KEY,
        after=KEY,
        slice={"id": KEY, "n": 1},
        context=(ContextLine(1, KEY, KEY, at=True),),
    )
    one = stream(secret, reasons={"a/b/c": KEY}, notes=(KEY,))
    report = redact_report(Report((one,), errors=(KEY,), notes=(KEY,)))
    assert KEY not in repr(report)
    (found,) = report.findings
    assert (found.id, found.rule, found.line) == (secret.id, secret.rule, secret.line)
    assert found.slice["n"] == 1
    assert found.got == found.message  # equal secrets stay equal
    assert len(found.got) == len(KEY)


def test_a_cleaner_of_ones_own_takes_its_place() -> None:
    report = redact_report(Report((stream(finding()),)), lambda _text: "gone")
    assert report.findings[0].message == "gone"


def test_half_a_surrogate_pair_stops_nothing() -> None:
    report = Report((stream(finding(message="\ud83e")),))
    assert redact_report(report).findings[0].message == "\ud83e"
    assert "\\ud83e" in render(redact_report(report), "text")
