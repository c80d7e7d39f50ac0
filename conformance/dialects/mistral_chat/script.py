"""Scripted answers of Mistral's chat: the first text stands next to the last thinking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.dialects.script import (
    MODEL,
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedEvent,
    pieces_of,
)
from conformance.dialects.wishes import WishForm

_REASONS: Final = {"tools": "tool_calls", "length": "length"}


def _error_body(message: str, *, is_refusal: bool) -> dict[str, Any]:
    kind, code = ("invalid_request_error", "3000") if is_refusal else ("internal_error", "3700")
    return {"object": "error", "message": message, "type": kind, "param": None, "code": code}


def _stream_events(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    yield _chunk(answer, {"role": "assistant", "content": ""})
    for piece in pieces_of(answer.thinking):
        yield _chunk(answer, {"content": [_thinking(piece)]})
    if answer.thinking:
        yield _chunk(answer, {"content": [{"type": "thinking", "thinking": []}]})
    for piece in answer.text_pieces():
        yield _chunk(answer, {"content": piece})
    if answer.calls and not answer.is_broken:
        yield _chunk(answer, {"content": "", "tool_calls": list(map(_call, answer.calls))})
    if answer.word == "error":
        yield "", {"error": _error_body(answer.error, is_refusal=False)}
    if answer.is_finished:
        yield _chunk(answer, {"content": ""}, finish=_REASONS.get(answer.ending, "stop"))
        yield "", "[DONE]"


def _whole_body(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> dict[str, Any]:
    text = "" if answer.calls else answer.text
    shown = [_thinking(answer.thinking, closed=True)] if answer.thinking else []
    spoken = [{"type": "text", "text": text}] if text else []
    calls = {"tool_calls": list(map(_call, answer.calls)) or None}
    message = {"role": "assistant", "content": [*shown, *spoken] if shown else text, **calls}
    reason = _REASONS.get(answer.ending, None if answer.word == "no-finish" else "stop")
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {**_chunk_head(answer, "chat.completion"), "choices": [choice], **_usage_field(answer)}


def _thinking(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}], **more}


def _call(call: ScriptedCall) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": call.arguments}
    named = {"id": f"call{call.mark}", "type": "function"}
    return {**named, "function": function, "index": call.index}


def _chunk_head(answer: ScriptedAnswer, kind: str) -> dict[str, Any]:
    return {"id": f"{answer.id_number:032x}", "object": kind, "created": 1, "model": MODEL}


def _usage_field(answer: ScriptedAnswer) -> dict[str, Any]:
    given, written, _ = answer.tokens
    counts = {"prompt_tokens": given, "completion_tokens": written, "total_tokens": given + written}
    return {"usage": counts}


def _chunk(
    answer: ScriptedAnswer, delta: Mapping[str, Any], *, finish: str | None = None
) -> ScriptedEvent:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {**_chunk_head(answer, "chat.completion.chunk"), "choices": [choice]}
    return "", {**chunk, **_usage_field(answer)} if finish else chunk


SCRIPT: Final = Script(
    _stream_events,
    _whole_body,
    _error_body,
    WishForm(
        schemas=("response_format.json_schema.schema",),
        json="response_format.type",
        names=("tool_choice.function.name",),
        stops="stop",
    ),
)
