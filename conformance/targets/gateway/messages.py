"""Scripted answers in Messages."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.targets.gateway.said import (
    ARGUMENTS,
    BROKEN,
    INPUT,
    MODEL,
    OUTPUT,
    THINKING,
    TOOL,
    WORDS,
    cut,
    event,
    heard,
    said,
    shows_thinking,
    thought,
)

_REASONS: Final = {"tools": "tool_use", "length": "max_tokens"}


def error(script: str) -> dict[str, Any]:
    """The error that a script speaks of."""
    kind = "invalid_request_error" if script == "refused" else "api_error"
    return {"type": "error", "error": {"type": kind, "message": WORDS[script]}}


def streamed(script: str, number: int, asked: Mapping[str, Any]) -> Iterator[bytes]:
    """The events of an answer."""
    del asked
    begun = {"stop_reason": None, "stop_sequence": None, "usage": _usage(0, 0)}
    yield _event("message_start", message={**_head(number), "content": [], **begun})
    if shows_thinking(script):
        yield from _thinking(number)
    yield from _spoken(script, number, index=int(shows_thinking(script)))
    if script == "error":
        yield event(error(script), name="error")
    if script in BROKEN or script == "no-finish":
        return
    ending = {"stop_reason": _REASONS.get(script, "end_turn"), "stop_sequence": None}
    yield _event("message_delta", delta=ending, usage=_usage(OUTPUT, THINKING))
    yield _event("message_stop")


def whole(script: str, number: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer as one body."""
    del asked
    thinking = {"type": "thinking", "thinking": thought(number), "signature": _signature(number)}
    second = {"type": "text", "text": said(number)}
    if script == "tools":
        second = {**_call(number), "input": json.loads(ARGUMENTS)}
    reason = _REASONS.get(script, None if script == "no-finish" else "end_turn")
    ending = {"stop_reason": reason, "stop_sequence": None, "usage": _usage(OUTPUT, THINKING)}
    shown = [thinking] if shows_thinking(script) else []
    return {**_head(number), "content": [*shown, second], **ending}


def _thinking(number: int) -> Iterator[bytes]:
    """A block of thinking, the first of the message."""
    empty = {"type": "thinking", "thinking": "", "signature": ""}
    yield _event("content_block_start", index=0, content_block=empty)
    yield from (_delta(0, "thinking", piece) for piece in cut(thought(number)))
    yield _delta(0, "signature", _signature(number))
    yield _event("content_block_stop", index=0)


def _spoken(script: str, number: int, *, index: int) -> Iterator[bytes]:
    """The block of text or of a call; what breaks off leaves it open."""
    is_call = script == "tools"
    block = {**_call(number), "input": {}} if is_call else {"type": "text", "text": ""}
    yield _event("content_block_start", index=index, content_block=block)
    if is_call:
        yield from (_delta(index, "input_json", piece) for piece in cut(ARGUMENTS))
    yield from (_delta(index, "text", piece) for piece in heard(script, number))
    if script not in BROKEN:
        yield _event("content_block_stop", index=index)


def _head(number: int) -> dict[str, Any]:
    named = {"type": "message", "role": "assistant", "model": MODEL}
    return {"id": f"msg_scripted_{number}", **named}


def _call(number: int) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": TOOL}


def _signature(number: int) -> str:
    return base64.b64encode(f"thought {number}, signed by the script".encode()).decode()


def _usage(output: int, thinking: int) -> dict[str, Any]:
    details = {"output_tokens_details": {"thinking_tokens": thinking}}
    return {"input_tokens": INPUT, "output_tokens": output, **details}


def _delta(index: int, kind: str, piece: str) -> bytes:
    name = "partial_json" if kind == "input_json" else kind
    delta = {"type": f"{kind}_delta", name: piece}
    return _event("content_block_delta", index=index, delta=delta)


def _event(kind: str, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, name=kind)
