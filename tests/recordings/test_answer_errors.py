"""An answer that broke off with an error says so; one that is only an error is no answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.judging.result import AnswerError, Report
from conformance.recordings.check import check_paths
from conformance.report.files import FORMATS, render
from conformance.report.redacted import redact_report
from conformance.rules.verdicts import Verdict

ERROR = {"error": {"message": "Slow down", "type": "rate_limit_error"}}
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
BEGUN = {**CHUNK, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hi"}}]}
EMPTY = {**CHUNK, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}


def judged(folder: Path, *payloads: Any, **header: Any) -> Report:
    head = {"cassette": "1.0", "dialect": "openai.chat", "profile": "strict", **header}
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in payloads)
    request = {"method": "POST", "path": "/v1/chat/completions", "json": {"model": "m"}}
    lines = [
        head,
        {"request": request, "exchange": 1, "scenario": "own", "role": "plain"},
        {"response": {"status": 200, "headers": [["content-type", "text/event-stream"]]}},
        {"text": body},
        {"end": "eof"},
    ]
    path = folder / "own.cassette.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return check_paths([path])


def test_what_was_due_says_which_error_came_instead(tmp_path: Path) -> None:
    report = judged(tmp_path, BEGUN, ERROR)
    (stream,) = report.streams
    assert stream.error == AnswerError(2, "rate_limit_error", "Slow down")
    unclear = [r for r, verdict in stream.verdicts.items() if verdict is Verdict.INCONCLUSIVE]
    assert "wire/chat/finish-present" in unclear
    for rule in unclear:
        assert stream.reasons[rule].endswith("got an error (rate_limit_error) in event 2")


@pytest.mark.parametrize("name", sorted({*FORMATS} - {"badge"}))
def test_every_format_reports_the_error(name: str, tmp_path: Path) -> None:
    told = render(judged(tmp_path, BEGUN, ERROR), name)
    plain = told.replace("\\_", "_")
    assert "broke off with an error: rate_limit_error: Slow down" in plain


@pytest.mark.parametrize(
    ("payloads", "is_all", "code"),
    [([ERROR], True, 5), ([EMPTY, ERROR], True, 5), ([BEGUN, ERROR], False, None)],
)
def test_only_an_error_is_nothing(
    payloads: list[Any], is_all: bool, code: int | None, tmp_path: Path
) -> None:
    report = judged(tmp_path, *payloads)
    error = report.streams[0].error
    assert error is not None
    assert error.is_all is is_all
    binding = any(finding.level == "MUST" for finding in report.findings)
    assert report.exit_code() == (1 if binding else code or 0)
    told = "came with nothing but" if is_all else "broke off with"
    assert f"1 answer {told} an error: rate_limit_error: Slow down (in " in render(report, "text")


def test_an_error_that_a_run_expected_is_not_reported(tmp_path: Path) -> None:
    steps = {"plain": {"ends": ["failed"]}}
    run = {"target": "server", "deterministic": True, "steps": steps}
    report = judged(tmp_path, ERROR, run=run)
    assert report.streams[0].error is None
    assert report.exit_code() == 0


def test_one_error_of_many_streams_is_one_line(tmp_path: Path) -> None:
    (stream,) = judged(tmp_path, BEGUN, ERROR).streams
    text = render(Report((stream, stream, stream)), "text")
    assert text.count("rate_limit_error: Slow down") == 1
    assert (
        "warning: 3 answers broke off with an error: rate_limit_error: Slow down (first in" in text
    )


def test_a_secret_in_an_error_is_not_reported(tmp_path: Path) -> None:
    key = "sk-1234567890abcdef1234567890abcdef"
    error = {"error": {"message": f"Incorrect API key provided: {key}", "type": "auth"}}
    assert key not in render(redact_report(judged(tmp_path, BEGUN, error)), "json")
