"""What came in the place of an answer is one finding, whatever an answer would have had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.recordings.check import check_paths
from tests.evidence.test_demands import STEP, exchange, stream

PAGE = "<!doctype html><title>Gateway</title><body><h1>Welcome</h1></body>\n"
ENDING, LABEL = "scenario/ending", "wire/sse/content-type"
RUN = {"target": "server", "deterministic": True, "steps": {"first": STEP}}


def found(folder: Path, body: str, kind: str, **head: Any) -> set[str]:
    """The rules that fail on one answer of Chat."""
    lines: list[dict[str, Any]] = [{"cassette": "1.0", "dialect": "openai.chat", **head}]
    request, *rest = exchange(body, kind=kind)
    lines += [{**request, "exchange": 1}, *rest]
    path = folder / "own.cassette.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    report = check_paths([path], trust=[path])
    assert report.errors == ()
    return {each.rule for each in report.findings}


@pytest.mark.parametrize(
    ("body", "kind"),
    [(PAGE, "text/html"), ("OK\n", "text/plain"), ("%PDF-1.7\n", "application/pdf")],
)
def test_what_is_no_answer_is_one_finding(body: str, kind: str, tmp_path: Path) -> None:
    assert found(tmp_path, body, kind) == {LABEL}
    assert found(tmp_path, body, kind, run=RUN) == {ENDING}


def test_what_is_no_answer_but_says_that_it_is_a_stream_is_one_finding(tmp_path: Path) -> None:
    assert len(found(tmp_path, PAGE, "text/event-stream")) == 1


def test_an_answer_with_two_faults_is_two_findings(tmp_path: Path) -> None:
    cut = stream().removesuffix("data: [DONE]\n\n")
    assert found(tmp_path, cut, "text/plain") == {LABEL, "wire/chat/done-present"}
