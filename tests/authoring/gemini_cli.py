"""Lines of Gemini CLI that keep the rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.authoring.pieces import Fields, Line


def run(events: Iterable[Fields], **stated: Any) -> list[Line]:
    """The lines of a run: its session, what the user text_events, the events, and its result."""
    inner = [*events]
    begun = {
        "type": "init",
        "session_id": "00000000-0000-4000-8000-000000000000",
        "model": "keeper",
    }
    asked = {"type": "message", "role": "user", "content": "Is the lamp lit?"}
    counts = {"total_tokens": 31, "input_tokens": 11, "output_tokens": 12}
    called = sum(each["type"] == "tool_use" for each in inner)
    stats = {**counts, "duration_ms": 318, "tool_calls": called, "models": {"keeper": counts}}
    lines = [
        begun,
        asked,
        *inner,
        {"type": "result", "status": "success", **stated, "stats": stats},
    ]
    return [
        Line({"type": each["type"], "timestamp": f"2026-11-28T09:30:{n:02}.000Z", **each})
        for n, each in enumerate(lines)
    ]


def text_events(pieces: Iterable[str]) -> list[Fields]:
    message = {"type": "message", "role": "assistant"}
    return [{**message, "content": each, "delta": True} for each in pieces]


def call(number: int) -> list[Fields]:
    asked = {
        "tool_name": "read_log",
        "tool_id": f"read_log_{number}",
        "parameters": {"day": number},
    }
    return [{"type": "tool_use", **asked}]


def result(number: int, **more: Any) -> list[Fields]:
    stated = {"tool_id": f"read_log_{number}", "status": "success", "output": "", **more}
    return [{"type": "tool_result", **stated}]
