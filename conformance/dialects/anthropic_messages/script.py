"""Scripted answers in Messages."""

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

_REASONS: Final = {"tools": "tool_use", "length": "max_tokens"}


def _error_body(message: str, *, is_refusal: bool) -> dict[str, Any]:
    kind = "invalid_request_error" if is_refusal else "api_error"
    return {"type": "error", "error": {"type": kind, "message": message}}


def _stream_events(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    begun = {"stop_reason": None, "stop_sequence": None, "usage": _usage_object(answer, 0, 0)}
    yield _typed_event("message_start", message={**_message_head(answer), "content": [], **begun})
    if answer.thinking:
        yield from _thinking_block(answer)
    first = int(bool(answer.thinking))
    for call in answer.calls:
        yield from _call_block(call, index=first + call.index)
    if not answer.calls:
        yield from _text_block(answer, index=first)
    if answer.word == "error":
        yield "error", _error_body(answer.error, is_refusal=False)
    if not answer.is_finished:
        return
    ending = {"stop_reason": _REASONS.get(answer.ending, "end_turn"), "stop_sequence": None}
    yield _typed_event(
        "message_delta", delta=ending, usage=_usage_object(answer, *answer.tokens[1:])
    )
    yield _typed_event("message_stop")


def _whole_body(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> dict[str, Any]:
    thinking = {"type": "thinking", "thinking": answer.thinking, "signature": answer.signature}
    called = [{**_tool_call(each), "input": each.fields} for each in answer.calls]
    spoken = called or [{"type": "text", "text": answer.text}]
    reason = _REASONS.get(answer.ending, None if answer.word == "no-finish" else "end_turn")
    usage = _usage_object(answer, *answer.tokens[1:])
    ending = {"stop_reason": reason, "stop_sequence": None, "usage": usage}
    shown = [thinking] if answer.thinking else []
    return {**_message_head(answer), "content": [*shown, *spoken], **ending}


def _thinking_block(answer: ScriptedAnswer) -> Iterator[ScriptedEvent]:
    """A block of thinking, the first of the message."""
    empty = {"type": "thinking", "thinking": "", "signature": ""}
    yield _typed_event("content_block_start", index=0, content_block=empty)
    yield from (_delta_event(0, "thinking", piece) for piece in pieces_of(answer.thinking))
    yield _delta_event(0, "signature", answer.signature)
    yield _typed_event("content_block_stop", index=0)


def _call_block(call: ScriptedCall, *, index: int) -> Iterator[ScriptedEvent]:
    block = {**_tool_call(call), "input": {}}
    yield _typed_event("content_block_start", index=index, content_block=block)
    yield from (_delta_event(index, "input_json", piece) for piece in call.pieces)
    if not call.breaks_off:
        yield _typed_event("content_block_stop", index=index)


def _text_block(answer: ScriptedAnswer, *, index: int) -> Iterator[ScriptedEvent]:
    """The block of text; what breaks off leaves it open."""
    block = {"type": "text", "text": ""}
    yield _typed_event("content_block_start", index=index, content_block=block)
    yield from (_delta_event(index, "text", piece) for piece in answer.text_pieces())
    if not answer.is_broken:
        yield _typed_event("content_block_stop", index=index)


def _message_head(answer: ScriptedAnswer) -> dict[str, Any]:
    named = {"type": "message", "role": "assistant", "model": MODEL}
    return {"id": f"msg_scripted_{answer.mark}", **named}


def _tool_call(call: ScriptedCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{call.mark}", "name": call.tool}


def _usage_object(answer: ScriptedAnswer, output: int, thinking: int) -> dict[str, Any]:
    details = {"output_tokens_details": {"thinking_tokens": thinking}}
    return {"input_tokens": answer.tokens[0], "output_tokens": output, **details}


def _delta_event(index: int, kind: str, piece: str) -> ScriptedEvent:
    name = "partial_json" if kind == "input_json" else kind
    delta = {"type": f"{kind}_delta", name: piece}
    return _typed_event("content_block_delta", index=index, delta=delta)


def _typed_event(kind: str, **fields: Any) -> ScriptedEvent:
    return kind, {"type": kind, **fields}


SCRIPT: Final = Script(
    _stream_events,
    _whole_body,
    _error_body,
    WishForm(
        schemas=("output_config.format.schema", "output_format.schema"),
        names=("tool_choice.name",),
        stops="stop_sequences",
        single=("tool_choice.disable_parallel_tool_use", True),
    ),
)
