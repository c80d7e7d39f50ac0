"""Scripted answers in Chat Completions."""

from __future__ import annotations

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

_REASONS: Final = {"tools": "tool_calls", "length": "length"}


def error(script: str) -> dict[str, Any]:
    """The error that a script speaks of."""
    kind = "invalid_request_error" if script == "refused" else "server_error"
    return {"error": {"message": WORDS[script], "type": kind, "param": None, "code": None}}


def streamed(script: str, number: int, asked: Mapping[str, Any]) -> Iterator[bytes]:
    """The chunks of an answer."""
    yield _chunk(number, {"role": "assistant", "content": ""})
    pieces = cut(thought(number)) if shows_thinking(script) else ()
    yield from (_chunk(number, {"reasoning_content": piece}) for piece in pieces)
    yield from (_chunk(number, {"content": piece}) for piece in heard(script, number))
    if script == "tools":
        yield from (_chunk(number, {"tool_calls": [call]}) for call in _calls(number))
    if script == "error":
        yield event(error(script))
    if script in BROKEN or script == "no-finish":
        return
    yield _chunk(number, {}, finish=_REASONS.get(script, "stop"))
    if (asked.get("stream_options") or {}).get("include_usage"):
        yield event({**_head(number, "chat.completion.chunk"), "choices": [], **_usage()})
    yield event("[DONE]")


def whole(script: str, number: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer as one body."""
    del asked
    message: dict[str, Any] = {"role": "assistant"}
    if shows_thinking(script):
        message["reasoning_content"] = thought(number)
    message["content"] = None if script == "tools" else said(number)
    if script == "tools":
        function = {"name": TOOL, "arguments": ARGUMENTS}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        message["tool_calls"] = [call]
    reason = _REASONS.get(script, None if script == "no-finish" else "stop")
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {**_head(number, "chat.completion"), "choices": [choice], **_usage()}


def _calls(number: int) -> Iterator[dict[str, Any]]:
    function = {"name": TOOL, "arguments": ""}
    yield {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
    for piece in cut(ARGUMENTS):
        yield {"index": 0, "function": {"arguments": piece}}


def _head(number: int, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-scripted-{number}", "object": kind, "created": 1, "model": MODEL}


def _usage() -> dict[str, Any]:
    details = {"completion_tokens_details": {"reasoning_tokens": THINKING}}
    counts = {"prompt_tokens": INPUT, "completion_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT}
    return {"usage": {**counts, **details}}


def _chunk(number: int, delta: Mapping[str, Any], *, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event({**_head(number, "chat.completion.chunk"), "choices": [choice]})
