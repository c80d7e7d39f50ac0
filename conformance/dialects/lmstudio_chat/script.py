"""Scripted answers of LM Studio's chat."""

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


def _error_body(message: str, *, is_refusal: bool) -> dict[str, Any]:
    kind = "invalid_request" if is_refusal else "internal_error"
    return {"error": {"type": kind, "message": message}}


def _stream_events(answer: ScriptedAnswer, request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    yield _event("chat.start", model_instance_id=MODEL)
    yield _event("prompt_processing.start")
    yield _event("prompt_processing.end")
    if answer.thinking:
        yield from _block("reasoning", pieces_of(answer.thinking))
    for call in map(_call, answer.calls):
        named = {"tool": call["tool"], "provider_info": call["provider_info"]}
        yield _event("tool_call.start", **named)
        yield _event("tool_call.arguments", **named, arguments=call["arguments"])
        yield _event("tool_call.success", **{k: v for k, v in call.items() if k != "type"})
    if not answer.calls:
        yield from _block("message", answer.text_pieces(), is_cut=answer.is_broken)
    if answer.word == "error":
        yield _event("error", **_error_body(answer.error, is_refusal=False))
    if answer.is_finished or answer.word == "error":
        yield _event("chat.end", result=_result(answer, "".join(answer.text_pieces()), request))


def _whole_body(answer: ScriptedAnswer, request: Mapping[str, Any]) -> dict[str, Any]:
    return _result(answer, answer.text, request)


def _result(answer: ScriptedAnswer, text: str, request: Mapping[str, Any]) -> dict[str, Any]:
    thought = [{"type": "reasoning", "content": answer.thinking}] if answer.thinking else []
    spoken = [_call(call) for call in answer.calls] or [{"type": "message", "content": text}]
    given, output, thinking = answer.tokens
    counts = {
        "input_tokens": given,
        "total_output_tokens": output,
        "reasoning_output_tokens": thinking,
    }
    named = {} if request.get("store") is False else {"response_id": f"resp_scripted{answer.mark}"}
    return {"model_instance_id": MODEL, "output": [*thought, *spoken], "stats": counts, **named}


def _block(kind: str, pieces: list[str], *, is_cut: bool = False) -> Iterator[ScriptedEvent]:
    """A block; what breaks off leaves it open."""
    yield _event(f"{kind}.start")
    for piece in pieces:
        yield _event(f"{kind}.delta", content=piece)
    if not is_cut:
        yield _event(f"{kind}.end")


def _call(call: ScriptedCall) -> dict[str, Any]:
    return {
        "type": "tool_call",
        "tool": call.tool,
        "arguments": call.fields,
        "output": ("5", "9")[call.index],
        "provider_info": {"type": "plugin", "plugin_id": "mcp/scripted"},
    }


def _event(kind: str, **fields: Any) -> ScriptedEvent:
    return kind, {"type": kind, **fields}


SCRIPT: Final = Script(_stream_events, _whole_body, _error_body, WishForm(choice=()))
