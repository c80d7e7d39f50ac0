"""Chat Completions requests: thinking goes back in `reasoning_content` of its own message."""

from __future__ import annotations

from typing import Any

from reference_impl.client import effort
from reference_impl.client.ask import Ask
from reference_impl.client.turn import Called, Turn


def body(ask: Ask) -> dict[str, Any]:
    """The JSON of a request."""
    made: dict[str, Any] = {
        "model": ask.model,
        "messages": [_message(turn, sends=ask.sends_thinking) for turn in ask.turns],
        "stream": True,
        "stream_options": {"include_usage": True},
        **effort.chat(ask.effort),
        **ask.sampling,
    }
    if ask.max_tokens is not None:
        made["max_tokens"] = ask.max_tokens
    if ask.tools:
        made["tools"] = [dict(tool) for tool in ask.tools]
    return made


def _message(turn: Turn, *, sends: bool) -> dict[str, Any]:
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": turn.call_id, "content": turn.text}
    if turn.role != "assistant":
        return {"role": turn.role, "content": turn.text}
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    # Beside calls the field is wanted even where nothing was thought.
    if sends and (turn.thinking or turn.calls):
        message["reasoning_content"] = turn.thinking
    if sends:
        message.update(turn.echo)
    if turn.calls:
        message["tool_calls"] = [_call(call) for call in turn.calls]
    return message


def _call(call: Called) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}
