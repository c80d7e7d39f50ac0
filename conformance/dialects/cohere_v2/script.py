"""Scripted answers in Cohere's Chat API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.dialects.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedEvent,
    pieces_of,
)
from conformance.dialects.wishes import WishForm

_REASONS: Final = {"tools": "TOOL_CALL", "length": "MAX_TOKENS", "error": "ERROR"}


def _error_body(message: str, *, is_refusal: bool) -> dict[str, Any]:
    del is_refusal  # an error is its message, whoever is at fault
    return {"message": message}


def _stream_events(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    begun = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    yield _event("message-start", begun, id=_id(answer))
    if answer.thinking:
        yield from _block(0, "thinking", pieces_of(answer.thinking))
    for call in answer.calls:
        yield from _call_events(call)
    if not answer.calls:
        at = int(bool(answer.thinking))
        yield from _block(at, "text", answer.text_pieces(), is_cut=answer.is_broken)
    if answer.is_finished or answer.word == "error":
        failed = {"error": answer.error} if answer.word == "error" else {}
        yield "message-end", {"type": "message-end", "delta": {**_ending(answer), **failed}}
        yield "", "[DONE]"


def _whole_body(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> dict[str, Any]:
    shown = [{"type": "thinking", "thinking": answer.thinking}] if answer.thinking else []
    spoken = [] if answer.calls else [{"type": "text", "text": answer.text}]
    calls = {"tool_calls": [_call(each, each.arguments) for each in answer.calls]}
    message = {"role": "assistant", "content": [*shown, *spoken], **(calls if answer.calls else {})}
    body = {"id": _id(answer), "message": message, **_ending(answer)}
    if answer.word == "no-finish":
        del body["finish_reason"]
    return body


def _block(
    index: int, kind: str, pieces: list[str], *, is_cut: bool = False
) -> Iterator[ScriptedEvent]:
    """A block of content; what breaks off leaves it open."""
    yield _event("content-start", {"content": {"type": kind, kind: ""}}, index=index)
    for piece in pieces:
        yield _event("content-delta", {"content": {kind: piece}}, index=index)
    if not is_cut:
        yield "content-end", {"type": "content-end", "index": index}


def _call_events(call: ScriptedCall) -> Iterator[ScriptedEvent]:
    yield _event("tool-call-start", {"tool_calls": _call(call, "")}, index=call.index)
    for piece in call.pieces:
        called = {"tool_calls": {"function": {"arguments": piece}}}
        yield _event("tool-call-delta", called, index=call.index)
    if not call.breaks_off:
        yield "tool-call-end", {"type": "tool-call-end", "index": call.index}


def _event(kind: str, message: Mapping[str, Any], **fields: Any) -> ScriptedEvent:
    return kind, {"type": kind, **fields, "delta": {"message": message}}


def _call(call: ScriptedCall, arguments: str) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": arguments}
    return {"id": f"{call.tool}_{call.mark}", "type": "function", "function": function}


def _ending(answer: ScriptedAnswer) -> dict[str, Any]:
    given, written, thought = answer.tokens
    tokens = {"input_tokens": given, "output_tokens": written, "reasoning_tokens": thought}
    billed = {"input_tokens": given, "output_tokens": written}
    usage = {"billed_units": billed, "tokens": tokens}
    return {"finish_reason": _REASONS.get(answer.ending, "COMPLETE"), "usage": usage}


def _id(answer: ScriptedAnswer) -> str:
    return f"scripted-{answer.mark}"


SCRIPT: Final = Script(
    _stream_events,
    _whole_body,
    _error_body,
    WishForm(
        schemas=("response_format.json_schema", "response_format.schema"),
        json="response_format.type",
        any_call=("REQUIRED",),
        no_call=("NONE",),
        stops="stop_sequences",
    ),
)
