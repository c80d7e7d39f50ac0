"""Runs of Amp, which prints the lines of Claude Code with fewer fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.recordings.check import check_paths

_THREAD = "T-0b51f1aa-1a2b-4c3d-8e4f-5a6b7c8d9e0f"
_DONE = {"subtype": "success", "is_error": False, "result": "Yes."}
_FAILED = {"subtype": "error_during_execution", "is_error": True, "error": "overloaded"}


def _spoken(*blocks: Any) -> dict[str, Any]:
    usage = {"input_tokens": 7, "output_tokens": 13, "max_tokens": 968000}
    said = {"type": "message", "role": "assistant", "content": blocks, "stop_reason": None}
    return {"type": "assistant", "message": {**said, "usage": usage}, "parent_tool_use_id": None}


def _judged(
    tmp_path: Path, end: dict[str, Any] | None, session: str = _THREAD
) -> tuple[str, set[str]]:
    """The profile of a run, and the MUST rules that it breaks."""
    called = {"type": "tool_use", "id": "toolu_01", "name": "Read", "input": {"path": "reed"}}
    lines: list[dict[str, Any]] = [
        {"type": "system", "subtype": "init", "cwd": "/home/reed", "tools": [], "mcp_servers": []},
        _spoken({"type": "thinking", "thinking": "The timetable knows."}, called),
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_01",
                        "content": "two",
                        "is_error": False,
                    }
                ],
            },
        },
        _spoken({"type": "text", "text": "Yes."}),
    ]
    if end is not None:
        lines.append({"type": "result", "duration_ms": 73, "num_turns": 2, **end})
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({**each, "session_id": session}) + "\n" for each in lines))
    [stream] = check_paths([path]).streams
    return stream.profile, {each.rule for each in stream.findings if each.level == "MUST"}


@pytest.mark.parametrize("end", [_DONE, _FAILED])
def test_what_the_manual_shows_is_legal(tmp_path: Path, end: dict[str, Any]) -> None:
    assert _judged(tmp_path, end) == ("amp", set())


def test_a_run_without_its_result_is_accused(tmp_path: Path) -> None:
    assert _judged(tmp_path, None) == ("amp", {"wire/stream-json/result-present"})


def test_another_session_is_no_thread_of_amp(tmp_path: Path) -> None:
    profile, broken = _judged(tmp_path, _DONE, "0b51f1aa-1a2b-4c3d-8e4f-5a6b7c8d9e0f")
    assert profile == "strict"
    assert "wire/stream-json/line-fields" in broken
