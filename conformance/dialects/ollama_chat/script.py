"""Scripted answers in Ollama's native API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.dialects.script import (
    ARGUMENTS,
    MODEL,
    TOOL,
    Script,
    ScriptedAnswer,
    ScriptedEvent,
    pieces_of,
)

_CREATED: Final = "2026-01-01T00:00:00Z"


def error_body(message: str, *, is_refusal: bool) -> dict[str, Any]:
    del is_refusal  # an error is its message, whoever is at fault
    return {"error": message}


def _stream_events(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    for piece in pieces_of(answer.thinking):
        yield "", _line({"content": "", "thinking": piece})
    for piece in answer.text_pieces():
        yield "", _line({"content": piece})
    if answer.calls_tool:
        yield "", _line({"content": "", "tool_calls": [_tool_call(answer.number)]})
    if answer.word == "error":
        yield "", error_body(answer.error, is_refusal=False)
    if answer.is_finished:
        yield "", {**_line({"content": ""}), **_last(answer)}


def _whole_body(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"content": "" if answer.calls_tool else answer.text}
    if answer.thinking:
        message["thinking"] = answer.thinking
    if answer.calls_tool:
        message["tool_calls"] = [_tool_call(answer.number)]
    return {**_line(message), **(_last(answer) if answer.word != "no-finish" else {})}


def _line(message: Mapping[str, Any]) -> dict[str, Any]:
    said = {"role": "assistant", **message}
    return {"model": MODEL, "created_at": _CREATED, "message": said, "done": False}


def _last(answer: ScriptedAnswer) -> dict[str, Any]:
    given, said, _ = answer.tokens
    reason = "length" if answer.word == "length" else "stop"
    counts = {"prompt_eval_count": given, "eval_count": said, "total_duration": 1}
    return {"done": True, "done_reason": reason, **counts}


def _tool_call(number: int) -> dict[str, Any]:
    function = {"index": 0, "name": TOOL, "arguments": json.loads(ARGUMENTS)}
    return {"id": f"call_{number}", "function": function}


SCRIPT: Final = Script(_stream_events, _whole_body, error_body)
