"""Chat Completions requests: thinking goes back in `reasoning_content` of its own message.

Opaque fields go back as they came, those of them that the client keeps.
"""

from __future__ import annotations

from typing import Any

from . import effort
from .ask import Ask
from .likeness import FIELD
from .turn import Called, Turn


def body(ask: Ask) -> dict[str, Any]:
    """The JSON of a request."""
    made: dict[str, Any] = {
        "model": ask.model,
        "messages": [_message(turn, ask) for turn in ask.turns],
        "stream": True,
        "stream_options": {"include_usage": True},
        **effort.chat(ask),
        **ask.sampling,
    }
    if ask.max_tokens is not None:
        made["max_tokens"] = ask.max_tokens
    if ask.tools:
        made["tools"] = [dict(tool) for tool in ask.tools]
    return made


def _message(turn: Turn, ask: Ask) -> dict[str, Any]:
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": turn.call_id, "content": turn.text}
    if turn.role != "assistant":
        return {"role": turn.role, "content": turn.text}
    message = {"role": "assistant", "content": turn.text, **_thinking(turn, ask)}
    if turn.calls:
        message["tool_calls"] = [_call(call) for call in turn.calls]
    return message


def _thinking(turn: Turn, ask: Ask) -> dict[str, Any]:
    like, sends, fields = ask.like, ask.sends_thinking("chat"), dict[str, Any]()
    if sends and turn.thinking:
        fields[FIELD] = turn.thinking
    elif sends and turn.calls:
        fields.update(like.unthought_calls)
    if sends or like.opaque_always:
        kept = like.opaque_fields
        fields.update({name: value for name, value in turn.echo.items() if name in kept})
    return fields


def _call(call: Called) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}
