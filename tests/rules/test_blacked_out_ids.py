"""Ids that were blacked out in a file are no ids that came twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.recordings.check import check_paths

PART_ONCE = "wire/opencode-run/part-once"
LINE_ONCE = "wire/stream-json/line-once"


def run_of(part_id: str) -> list[dict[str, Any]]:
    """The lines of a run of opencode whose parts all have this id."""
    kept: dict[str, Any] = {"id": part_id, "messageID": "msg_0", "sessionID": "ses_0"}
    span: dict[str, Any] = {"start": 1, "end": 2}
    parts: list[tuple[str, dict[str, Any]]] = [
        ("step_start", {"type": "step-start"}),
        ("text", {"type": "text", "text": "Two.", "time": span}),
        ("step_finish", {"type": "step-finish", "reason": "stop", "cost": 0}),
    ]
    return [
        {"type": kind, "timestamp": 1, "sessionID": "ses_0", "part": {**kept, **part}}
        for kind, part in parts
    ]


def lines_of(uuid: str) -> list[dict[str, Any]]:
    """Two lines of Claude Code with this id."""
    message = {"role": "assistant", "content": [{"type": "text", "text": "Two."}]}
    return [
        {"type": "assistant", "message": message, "session_id": "s", "uuid": uuid},
        {"type": "result", "subtype": "success", "result": "Two.", "session_id": "s", "uuid": uuid},
    ]


@pytest.mark.parametrize(
    ("rule", "lines"), [(PART_ONCE, run_of), (LINE_ONCE, lines_of)], ids=["part", "line"]
)
@pytest.mark.parametrize(
    ("written", "is_told"),
    [("REDACTED", False), ("[redacted]", False), ("prt_0", True), ("prt_redacted", True)],
)
def test_only_ids_that_are_there_come_twice(
    rule: str, lines: object, written: str, is_told: bool, tmp_path: Path
) -> None:
    assert callable(lines)
    path = tmp_path / "run.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines(written)), encoding="utf-8")
    (stream,) = check_paths([path]).streams
    assert (rule in [each.rule for each in stream.findings]) is is_told
