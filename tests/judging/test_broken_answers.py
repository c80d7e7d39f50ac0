"""An answer of Responses that broke off is one finding, however many of its parts stay open."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from conformance.cassette import read
from conformance.core.shipped import cassettes
from conformance.judging.groups import every_group, finding_groups
from conformance.judging.result import Report
from conformance.recordings.check import check_paths

_RECORDED: Final = "openai.responses/openai/incomplete-in-summary.cassette.jsonl"
_CLOSING: Final = re.compile(r"event: \S+\.done")


def _events() -> list[str]:
    (first, *_) = read(cassettes() / _RECORDED).exchanges
    return [each for each in first.body.decode().split("\n\n") if each.strip()]


def _judged(folder: Path, events: list[str], ends: list[str]) -> Report:
    (first, *_) = read(cassettes() / _RECORDED).exchanges
    run = {"target": "server", "deterministic": True, "steps": {"first": {"ends": ends}}}
    head = {"cassette": "1.0", "dialect": "openai.responses", "profile": "openai", "run": run}
    asked = first.request.json if first.request else None
    request = {"method": "POST", "path": "/v1/responses", "json": asked}
    lines: list[dict[str, Any]] = [
        head,
        {"exchange": 1, "request": request, "scenario": "own", "role": "first"},
        {"response": {"status": 200, "headers": [["content-type", "text/event-stream"]]}},
        *({"text": f"{event}\n\n"} for event in events),
        {"end": "eof"},
    ]
    path = folder / "own.cassette.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    report = check_paths([path], trust=[path])
    assert report.errors == ()
    return report


def test_wherever_a_stream_breaks_off_that_is_one_group(tmp_path: Path) -> None:
    events = _events()
    for count in range(1, len(events)):
        groups = finding_groups(_judged(tmp_path, events[:count], ["cut"]))
        assert [group.first.rule for group in groups] == ["wire/responses/terminal-present"]


def test_an_answer_that_says_that_it_broke_off_is_one_group(tmp_path: Path) -> None:
    *events, last = _events()
    begun = next(n for n, event in enumerate(events) if _CLOSING.search(event))
    broken = last.replace("max_output_tokens", "upstream_eof")
    broken = re.sub(r'("sequence_number": ?)\d+', rf"\g<1>{begun}", broken)
    (group,) = finding_groups(_judged(tmp_path, [*events[:begun], broken], ["complete"]))
    assert group.first.rule == "scenario/ending"
    rules = {each.first.rule for each in every_group([group])}
    assert "wire/responses/item-closed" in rules
    assert "summary/lifecycle/part-lifecycle" not in rules
