"""Scripted answers in Chat Completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.dialects.json_edge import mapping
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


def error_body(message: str, *, is_refusal: bool) -> dict[str, Any]:
    kind = "invalid_request_error" if is_refusal else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _stream_events(answer: ScriptedAnswer, request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    yield _delta_chunk(answer, {"role": "assistant", "content": ""})
    for piece in () if answer.persona.hides else pieces_of(answer.thinking):
        yield _delta_chunk(answer, _thinking_fields(answer, piece))
    for piece in answer.text_pieces():
        yield _delta_chunk(answer, {"content": piece})
    for call in answer.calls:
        for fragment in _tool_fragments(call):
            yield _delta_chunk(answer, {"tool_calls": [fragment]})
    if answer.word == "error":
        yield "", error_body(answer.error, is_refusal=False)
    if not answer.is_finished:
        return
    yield _delta_chunk(answer, {}, finish=_REASONS.get(answer.ending, "stop"))
    if answer.states_usage or mapping(request.get("stream_options")).get("include_usage"):
        yield (
            "",
            {
                **_chunk_head(answer, "chat.completion.chunk"),
                "choices": [],
                **_usage_field(answer),
            },
        )
    yield "", "[DONE]"


def _whole_body(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant"}
    if answer.thinking and not answer.persona.hides:
        message |= _thinking_fields(answer, answer.thinking)
    message["content"] = None if answer.calls else answer.text
    if answer.calls:
        message["tool_calls"] = [_tool_call(call, call.arguments) for call in answer.calls]
    reason = _REASONS.get(answer.ending, None if answer.word == "no-finish" else "stop")
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {**_chunk_head(answer, "chat.completion"), "choices": [choice], **_usage_field(answer)}


def _thinking_fields(answer: ScriptedAnswer, text: str) -> dict[str, Any]:
    """Thinking under the keys that the provider has for it."""
    detail = {"type": "reasoning.text", "text": text, "format": "unknown", "index": 0}
    return {
        key: [detail] if key == "reasoning_details" else text for key in answer.persona.thinking
    }


def _tool_call(call: ScriptedCall, arguments: str) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": arguments}
    return {"id": f"call_{call.mark}", "type": "function", "function": function}


def _tool_fragments(call: ScriptedCall) -> Iterator[dict[str, Any]]:
    yield {"index": call.index, **_tool_call(call, "")}
    for piece in call.pieces:
        yield {"index": call.index, "function": {"arguments": piece}}


def _chunk_head(answer: ScriptedAnswer, kind: str) -> dict[str, Any]:
    name = f"chatcmpl-scripted-{answer.mark}"
    return {"id": name, "object": kind, "created": 1, "model": MODEL}


def _usage_field(answer: ScriptedAnswer) -> dict[str, Any]:
    given, written, thinking = answer.tokens
    details = {"completion_tokens_details": {"reasoning_tokens": thinking}}
    counts = {"prompt_tokens": given, "completion_tokens": written, "total_tokens": given + written}
    return {"usage": {**counts, **details}}


def _delta_chunk(
    answer: ScriptedAnswer, delta: Mapping[str, Any], *, finish: str | None = None
) -> ScriptedEvent:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return "", {**_chunk_head(answer, "chat.completion.chunk"), "choices": [choice]}


SCRIPT: Final = Script(
    _stream_events,
    _whole_body,
    error_body,
    WishForm(
        schemas=("response_format.json_schema.schema",),
        json="response_format.type",
        names=("tool_choice.function.name",),
        stops="stop",
    ),
)
