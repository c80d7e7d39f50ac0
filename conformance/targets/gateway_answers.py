"""What the toolkit says when it plays the server behind a gateway: Chat Completions by a script.

Every answer is another one (`number`), so that two calls cannot be taken for each other. Texts
hold what gateways lose: white space at the edges, characters of several bytes, a line separator.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

MODEL: Final = "scripted"
_STREAM: Final = "text/event-stream"
_JSON: Final = "application/json"
_STATUS: Final = {"refused": 400, "unavailable": 500}
_REASONS: Final = {"tools": "tool_calls", "length": "length"}


@dataclass(frozen=True, slots=True)
class Scripted:
    """A response: head, body piece by piece, and whether the connection breaks after it."""

    status: int
    kind: str
    pieces: tuple[bytes, ...]
    breaks: bool = False


def scripted(script: str, number: int, body: Mapping[str, Any]) -> Scripted:
    """The answer to call `number` by a script of `scenarios.UPSTREAM`."""
    if script in _STATUS:
        words = {"refused": "the script refuses", "unavailable": "the script has no worker"}
        kind = "invalid_request_error" if script == "refused" else "server_error"
        error = {"message": words[script], "type": kind, "param": None, "code": None}
        return Scripted(_STATUS[script], _JSON, (_bytes({"error": error}),))
    if body.get("stream"):
        pieces = tuple(f"data: {each}\n\n".encode() for each in _events(script, number, body))
        return Scripted(200, _STREAM, pieces, breaks=script == "cut")
    return Scripted(200, _JSON, (_bytes(_whole(script, number)),), breaks=script == "cut")


def models() -> Scripted:
    """The list of models, for gateways that look before they ask."""
    model = {"id": MODEL, "object": "model", "created": 1, "owned_by": "conformance"}
    return Scripted(200, _JSON, (_bytes({"object": "list", "data": [model]}),))


def thought(number: int) -> str:
    return f" Two and two, thought {number}: 二加二 is\u20284.\n"


def said(number: int) -> str:
    return f"\nAnswer {number}: **4** \N{WHITE HEAVY CHECK MARK} \N{EN DASH} no more. "


def _events(script: str, number: int, body: Mapping[str, Any]) -> Iterator[str]:
    yield _chunk(number, {"role": "assistant", "content": ""})
    yield from (_chunk(number, {"reasoning_content": piece}) for piece in _cut(thought(number)))
    if script == "tools":
        yield from (_chunk(number, {"tool_calls": [call]}) for call in _calls(number))
    else:
        pieces = _cut(said(number))
        broken = script in ("cut", "error")
        yield from (_chunk(number, {"content": p}) for p in (pieces[:2] if broken else pieces))
    if script == "error":
        error = {"message": "the script breaks off", "type": "server_error", "code": None}
        yield json.dumps({"error": error})
    elif script not in ("cut", "no-finish"):
        yield _chunk(number, {}, finish=_REASONS.get(script, "stop"))
        if (body.get("stream_options") or {}).get("include_usage"):
            yield json.dumps({**_head(number, "chat.completion.chunk"), "choices": [], **_usage()})
        yield "[DONE]"


def _calls(number: int) -> Iterator[dict[str, Any]]:
    function = {"name": "calculator", "arguments": ""}
    yield {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
    for piece in ('{"expr', 'ession": "2', ' + 3"}'):
        yield {"index": 0, "function": {"arguments": piece}}


def _whole(script: str, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "reasoning_content": thought(number)}
    message["content"] = None if script == "tools" else said(number)
    if script == "tools":
        function = {"name": "calculator", "arguments": '{"expression": "2 + 3"}'}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        message["tool_calls"] = [call]
    reason = _REASONS.get(script, None if script == "no-finish" else "stop")
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {**_head(number, "chat.completion"), "choices": [choice], **_usage()}


def _head(number: int, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-scripted-{number}", "object": kind, "created": 1, "model": MODEL}


def _usage() -> dict[str, Any]:
    details = {"completion_tokens_details": {"reasoning_tokens": 9}}
    counts = {"prompt_tokens": 11, "completion_tokens": 21, "total_tokens": 32}
    return {"usage": {**counts, **details}}


def _chunk(number: int, delta: Mapping[str, Any], *, finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {**_head(number, "chat.completion.chunk"), "choices": [choice]}
    return json.dumps(chunk, ensure_ascii=False)


def _cut(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def _bytes(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()
