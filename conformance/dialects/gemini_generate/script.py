"""Scripted answers of the Gemini API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.json_values import value_at
from conformance.dialects.script import (
    MODEL,
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedEvent,
    pieces_of,
)
from conformance.dialects.wishes import WishForm

_SHOWS: Final = ("generationConfig", "thinkingConfig", "includeThoughts")
_REASONS: Final = {"length": "MAX_TOKENS"}


def error_body(message: str, *, is_refusal: bool) -> dict[str, Any]:
    code, status = (400, "INVALID_ARGUMENT") if is_refusal else (500, "INTERNAL")
    return {"error": {"code": code, "message": message, "status": status}}


def _stream_events(answer: ScriptedAnswer, request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    for piece in pieces_of(_shown_thinking(answer, request)):
        yield "", _chunk(answer, {"text": piece, "thought": True})
    for piece in answer.text_pieces():
        yield "", _chunk(answer, {"text": piece})
    for call in () if answer.is_broken else answer.calls:
        yield "", _chunk(answer, _call_part(call))
    if answer.word == "error":
        yield "", error_body(answer.error, is_refusal=False)
    if answer.is_finished:
        yield "", _finished(answer, {"text": ""})


def _whole_body(answer: ScriptedAnswer, request: Mapping[str, Any]) -> dict[str, Any]:
    thinking = _shown_thinking(answer, request)
    parts: list[Any] = [{"text": thinking, "thought": True}] if thinking else []
    parts += [_call_part(call) for call in answer.calls] or [{"text": answer.text}]
    return (_finished if answer.word != "no-finish" else _chunk)(answer, *parts)


def _shown_thinking(answer: ScriptedAnswer, request: Mapping[str, Any]) -> str:
    """Thoughts are shown to who asks for them."""
    return answer.thinking if value_at(request, *_SHOWS) is True else ""


def _finished(answer: ScriptedAnswer, *parts: Mapping[str, Any]) -> dict[str, Any]:
    chunk = _chunk(answer, *parts)
    (candidate,) = chunk["candidates"]
    reason = _REASONS.get(answer.ending, "STOP")
    return {**chunk, "candidates": [{**candidate, "finishReason": reason}]}


def _chunk(answer: ScriptedAnswer, *parts: Mapping[str, Any]) -> dict[str, Any]:
    given, written, thought = answer.tokens
    counts = {
        "promptTokenCount": given,
        "candidatesTokenCount": written - thought,
        "thoughtsTokenCount": thought,
        "totalTokenCount": given + written,
    }
    content = {"parts": list(parts), "role": "model"}
    return {
        "candidates": [{"content": content, "index": 0}],
        "usageMetadata": counts,
        "modelVersion": MODEL,
        "responseId": f"scripted-{answer.mark}",
    }


def _call_part(call: ScriptedCall) -> dict[str, Any]:
    """A call; of parallel ones the first is signed."""
    signature = {} if call.index else {"thoughtSignature": f"c2lnbmF0dXJlLW9m000{call.mark}"}
    return {"functionCall": {"name": call.tool, "args": call.fields}, **signature}


SCRIPT: Final = Script(
    _stream_events,
    _whole_body,
    error_body,
    WishForm(
        schemas=("generationConfig.responseSchema", "generationConfig.responseJsonSchema"),
        json="generationConfig.responseMimeType",
        json_words=("application/json",),
        choice=("toolConfig.functionCallingConfig.mode",),
        any_call=("ANY",),
        no_call=("NONE",),
        names=("toolConfig.functionCallingConfig.allowedFunctionNames",),
        stops="generationConfig.stopSequences",
    ),
)
