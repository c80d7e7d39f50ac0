"""An answer that broke off with an error says so; one that is only an error is no answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import discover, open_recording
from conformance.core import shipped
from conformance.core.events import Chunk, Exchange, Response
from conformance.dialects import Reading, get
from conformance.judging.result import AnswerError, Report
from conformance.judging.rulebook import Rulebook
from conformance.profiles.lookup import profile_at_hand
from conformance.profiles.profile import reading
from conformance.recordings.check import check_paths, check_recording
from conformance.recordings.choices import CheckChoices
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
    page = render(judged(tmp_path, BEGUN, ERROR), name)
    plain = page.replace("\\_", "_")
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
    text = "came with nothing but" if is_all else "broke off with"
    assert f"1 answer {text} an error: rate_limit_error: Slow down (in " in render(report, "text")


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


FILES = [
    path
    for folder in ("openai.chat", "openai.responses", "anthropic.messages")
    for path in discover(shipped.cassettes() / folder)[::7]
]
KEEPING = CheckChoices(keep=True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_events_are_those_that_the_judge_saw(path: Path) -> None:
    recording = open_recording(path)
    results = check_recording(recording, Rulebook([]), KEEPING)
    for exchange in recording.exchanges:
        (judged,) = (r for r in results if r.exchange == exchange.number and r.view == "wire")
        profile = profile_at_hand(judged.profile, judged.dialect)
        if profile.name != judged.profile:
            continue  # a profile that only this cassette needs
        again = [
            e for each in get(judged.dialect).trace(exchange, reading(profile)) for e in each.events
        ]
        assert tuple(again) == judged.events


def test_white_space_before_a_body_makes_no_stream_of_it() -> None:
    body = (b" ", b"\n", b'{"object":"chat.completion","choices":[]}')
    exchange = Exchange(response=Response(), chunks=tuple(Chunk(each, 1.0) for each in body))
    frames = list(get("openai.chat").trace(exchange, Reading()))
    assert [each.frame.kind for each in frames if each.frame] == ["body"]
    assert [each.number for each in frames] == [0, 1, 2]
    assert [each.ms for each in frames] == [0.0, 3.0, 3.0]


def test_a_profile_that_is_not_at_hand_is_read_as_strict() -> None:
    assert profile_at_hand("nobody", "openai.chat").name == "strict"
    assert profile_at_hand("deepseek", "openai.chat").name == "deepseek"
