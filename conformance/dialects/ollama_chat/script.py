"""Scripted answers in Ollama's native API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.dialects.ollama_script import error_body, scripted_head, scripted_last
from conformance.dialects.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedEvent,
    pieces_of,
)
from conformance.dialects.wishes import WishForm


def _stream_events(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    for piece in pieces_of(answer.thinking):
        yield "", _line({"content": "", "thinking": piece})
    for piece in answer.text_pieces():
        yield "", _line({"content": piece})
    for call in () if answer.is_broken else answer.calls:
        yield "", _line({"content": "", "tool_calls": [_tool_call(call)]})
    if answer.word == "error":
        yield "", error_body(answer.error, is_refusal=False)
    if answer.is_finished:
        yield "", {**_line({"content": ""}), **scripted_last(answer)}


def _whole_body(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"content": "" if answer.calls else answer.text}
    if answer.thinking:
        message["thinking"] = answer.thinking
    if answer.calls:
        message["tool_calls"] = list(map(_tool_call, answer.calls))
    return {**_line(message), **(scripted_last(answer) if answer.word != "no-finish" else {})}


def _line(message: Mapping[str, Any]) -> dict[str, Any]:
    whole = {"role": "assistant", **message}
    return {**scripted_head(), "message": whole}


def _tool_call(call: ScriptedCall) -> dict[str, Any]:
    function = {"index": call.index, "name": call.tool, "arguments": call.fields}
    return {"id": f"call_{call.mark}", "function": function}


SCRIPT: Final = Script(
    _stream_events,
    _whole_body,
    error_body,
    WishForm(("format",), json="format", json_words=("json",), choice=(), stops="options.stop"),
)
