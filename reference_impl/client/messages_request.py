"""Anthropic Messages requests: signed blocks go back unmodified, in their own place.

Thinking without a signature proves nothing to the API and stays here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import effort
from .ask import Ask
from .payload import decode, object_of, present
from .turn import Called, Piece, Thought, Turn, Words


def body(ask: Ask) -> dict[str, Any]:
    """The JSON of a request."""
    return {
        "model": ask.model,
        "messages": list(_messages(ask)),
        "stream": True,
        **effort.messages(ask, ask.max_tokens or effort.MOST_TOKENS),
        **ask.sampling,
        **present(
            system=ask.instructions, tools=[_tool(dict(tool["function"])) for tool in ask.tools]
        ),
    }


def _tool(function: dict[str, Any]) -> dict[str, Any]:
    schema = function.pop("parameters", {"type": "object"})
    return {**function, "input_schema": schema}


def _messages(ask: Ask) -> Iterator[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    for turn in (*ask.turns, None):
        if turn is not None and turn.role == "tool":
            results.append(_result(turn))
            continue
        if results:
            # All results of one turn are in one message.
            yield {"role": "user", "content": results}
            results = []
        if turn is not None and turn.role == "assistant":
            blocks = list(_assistant(turn, ask))
            if blocks:
                yield {"role": "assistant", "content": blocks}
        elif turn is not None and turn.role == "user":
            yield {"role": "user", "content": turn.text}


def _assistant(turn: Turn, ask: Ask) -> Iterator[dict[str, Any]]:
    for piece in turn.thinking_first if ask.like.thinking_first else turn.pieces:
        yield from _blocks(piece, sends=ask.sends_thinking("messages"))


def _result(turn: Turn) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": turn.call_id, "content": turn.text}


def _blocks(piece: Piece, *, sends: bool) -> Iterator[dict[str, Any]]:
    if isinstance(piece, Words):
        yield {"type": "text", "text": piece.text}
    elif isinstance(piece, Called):
        arguments = object_of(decode(piece.arguments))
        yield {"type": "tool_use", "id": piece.id, "name": piece.name, "input": arguments}
    elif sends:
        yield from _sealed(piece)


def _sealed(thought: Thought) -> Iterator[dict[str, Any]]:
    if thought.redacted:
        yield {"type": "redacted_thinking", "data": thought.redacted}
    if thought.signature:
        signed = {"thinking": thought.text, "signature": thought.signature}
        yield {"type": "thinking", **signed}
