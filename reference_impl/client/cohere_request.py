"""Cohere requests: thinking goes back as the block of content that it was, a plan in its field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from . import effort
from .ask import Ask
from .chat_request import limits_and_tools, message_to_model
from .cohere import PLAN
from .turn import Called, Thought, Turn, Words

_SAMPLING: Final = {"top_p": "p", "stop": "stop_sequences"}


def body(ask: Ask) -> dict[str, Any]:
    """The JSON of a request."""
    return {
        "model": ask.model,
        "messages": [_message(turn, ask) for turn in ask.turns],
        "stream": True,
        **effort.cohere(ask),
        **ask.sampled(_SAMPLING),
        **limits_and_tools(ask),
    }


def _message(turn: Turn, ask: Ask) -> dict[str, Any]:
    if turn.role != "assistant":
        return message_to_model(turn)
    message: dict[str, Any] = {"role": "assistant"}
    plan = turn.echo.get(PLAN) if ask.sends_thinking("cohere") else None
    if plan:
        message[PLAN] = plan
    blocks = list(_blocks(turn, plan, sends=ask.sends_thinking("cohere")))
    if blocks:
        message["content"] = blocks
    if turn.calls:
        message["tool_calls"] = [_call(call) for call in turn.calls]
    return message


def _blocks(turn: Turn, plan: Any, *, sends: bool) -> Iterator[dict[str, Any]]:
    for piece in turn.pieces:
        if isinstance(piece, Words):
            yield {"type": "text", "text": piece.text}
        elif isinstance(piece, Thought) and sends and piece.text and piece.text != plan:
            yield {"type": "thinking", "thinking": piece.text}


def _call(call: Called) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    return {"id": call.id, "type": "function", "function": function}
