"""Scripted answers in Converse."""

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

_REASONS: Final = {"tools": "tool_use", "length": "max_tokens"}


def _error_body(message: str, *, is_refusal: bool) -> dict[str, Any]:
    del is_refusal  # the status shows whose fault it is
    return {"message": message}


def _stream_events(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    yield "messageStart", {"role": "assistant"}
    if answer.thinking:
        thought = [{"text": piece} for piece in pieces_of(answer.thinking)]
        signed = [*thought, {"signature": answer.signature}]
        yield from (_delta_event(0, {"reasoningContent": each}) for each in signed)
        yield "contentBlockStop", {"contentBlockIndex": 0}
    first = int(bool(answer.thinking))
    for call in answer.calls:
        yield from _call_block(call, index=first + call.index)
    if not answer.calls:
        yield from _text_block(answer, index=first)
    if answer.word == "error":
        yield "modelStreamErrorException", _error_body(answer.error, is_refusal=False)
    if answer.is_finished:
        yield "messageStop", {"stopReason": _REASONS.get(answer.ending, "end_turn")}
        yield "metadata", {"usage": _usage_object(answer), "metrics": {"latencyMs": 1}}


def _whole_body(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> dict[str, Any]:
    thought = {"text": answer.thinking, "signature": answer.signature}
    shown = [{"reasoningContent": {"reasoningText": thought}}] if answer.thinking else []
    spoken: list[Any] = [
        {"toolUse": {**_tool_call(each), "input": each.fields}} for each in answer.calls
    ] or [{"text": answer.text}]
    reason = _REASONS.get(answer.ending, "end_turn")
    finish = {} if answer.word == "no-finish" else {"stopReason": reason}
    message = {"role": "assistant", "content": [*shown, *spoken]}
    counted = {"usage": _usage_object(answer), "metrics": {"latencyMs": 1}}
    return {"output": {"message": message}, **finish, **counted}


def _call_block(call: ScriptedCall, *, index: int) -> Iterator[ScriptedEvent]:
    begun = {"toolUse": _tool_call(call)}
    yield "contentBlockStart", {"contentBlockIndex": index, "start": begun}
    for piece in call.pieces:
        yield _delta_event(index, {"toolUse": {"input": piece}})
    if not call.breaks_off:
        yield "contentBlockStop", {"contentBlockIndex": index}


def _text_block(answer: ScriptedAnswer, *, index: int) -> Iterator[ScriptedEvent]:
    """The block of text; what breaks off leaves it open."""
    yield from (_delta_event(index, {"text": piece}) for piece in answer.text_pieces())
    if not answer.is_broken:
        yield "contentBlockStop", {"contentBlockIndex": index}


def _tool_call(call: ScriptedCall) -> dict[str, Any]:
    return {"toolUseId": f"tooluse_scripted_{call.mark}", "name": call.tool}


def _usage_object(answer: ScriptedAnswer) -> dict[str, Any]:
    given, written, _ = answer.tokens
    return {"inputTokens": given, "outputTokens": written, "totalTokens": given + written}


def _delta_event(index: int, delta: Mapping[str, Any]) -> ScriptedEvent:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": delta}


SCRIPT: Final = Script(
    _stream_events,
    _whole_body,
    _error_body,
    WishForm(
        schemas=("outputConfig.textFormat.structure.jsonSchema.schema",),
        any_object="toolConfig.toolChoice.any",
        names=("toolConfig.toolChoice.tool.name",),
        stops="inferenceConfig.stopSequences",
    ),
)
