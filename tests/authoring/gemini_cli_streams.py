"""Lines of Gemini CLI that keep the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from tests.authoring.draft import Draft, output_draft
from tests.authoring.pieces import Fields, Line, characters, deltas

drafted: Final = partial(output_draft, dialect="gemini.cli")
LIGHT: Final = "The lamp turns once in nine seconds and can be seen for twenty miles."


def drafts() -> Iterator[Draft]:
    yield drafted("gemini-cli/text", run(said(deltas(LIGHT))))
    flower = said(characters("さくらの花は淡い桃色です。"))
    yield drafted("gemini-cli/cut-anywhere", run(flower), sizes=(97, 12))
    yield drafted("gemini-cli/tool-round", run([*call(0), *result(0), *said(["It is ", "lit."])]))
    two = [*said(["Let me ", "look."]), *call(0), *call(1), *result(0), *result(1)]
    yield drafted("gemini-cli/two-tools", run([*two, *said(["Both ", "are lit."])]))
    error = {"type": "file_not_found", "message": "There is no log."}
    lost = [*call(0), *result(0, status="error", error=error)]
    yield drafted("gemini-cli/tool-failed", run([*lost, *said(["No log ", "is kept."])]))
    refused = {"type": "unknown", "message": "[API Error: terminated]"}
    yield drafted("gemini-cli/failed", run(said(["The lamp "]), status="error", error=refused))
    notice = {"type": "error", "severity": "error", "message": "The model gave no reason to end."}
    yield drafted("gemini-cli/noticed", run([*said(["The lamp "]), notice], status="error"))
    warned = {**notice, "severity": "warning", "message": "Loop detected, stopping execution"}
    yield drafted("gemini-cli/warned", run([*said(["It is ", "lit."]), warned]))


def run(events: Iterable[Fields], **stated: Any) -> list[Line]:
    """The lines of a run: its session, what the user said, the events, and its result."""
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


def said(pieces: Iterable[str]) -> list[Fields]:
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
