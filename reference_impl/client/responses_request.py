"""Responses requests: a reasoning item stands in front of the rest of its own turn.

The API refuses reasoning that nothing follows and ids that come twice, and opens only the
encrypted content that it sealed itself. Nothing is stored there, so everything is sent again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reference_impl.client import effort
from reference_impl.client.ask import Ask
from reference_impl.client.turn import Thought, Turn, Words


def body(ask: Ask) -> dict[str, Any]:
    """The JSON of a request."""
    made: dict[str, Any] = {
        "model": ask.model,
        "input": list(_items(ask)),
        "stream": True,
        "store": False,
        **effort.responses(ask.effort, ask.summary),
        **ask.sampling,
    }
    if ask.sends_thinking:
        made["include"] = ["reasoning.encrypted_content"]
    if ask.max_tokens is not None:
        made["max_output_tokens"] = ask.max_tokens
    if ask.tools:
        made["tools"] = [{"type": "function", **tool["function"]} for tool in ask.tools]
    return made


def _items(ask: Ask) -> Iterator[dict[str, Any]]:
    used: set[str] = set()
    for number, turn in enumerate(ask.turns):
        if turn.role == "tool":
            yield {"type": "function_call_output", "call_id": turn.call_id, "output": turn.text}
        elif turn.role == "assistant":
            yield from _assistant(turn, number, used, sends=ask.sends_thinking)
        else:
            yield {"type": "message", "role": _role(turn, ask), "content": turn.text}


def _role(turn: Turn, ask: Ask) -> str:
    """Models that think take their instructions from a developer."""
    return "developer" if turn.role == "system" and ask.effort != "off" else turn.role


def _assistant(turn: Turn, number: int, used: set[str], *, sends: bool) -> Iterator[dict[str, Any]]:
    pieces = list(turn.pieces)
    while pieces and isinstance(pieces[-1], Thought):
        pieces.pop()
    for at, piece in enumerate(pieces):
        if isinstance(piece, Thought):
            if sends:
                item_id = piece.id if piece.id and piece.id not in used else f"rs_{number}_{at}"
                used.add(item_id)
                yield _reasoning(piece, item_id)
        elif isinstance(piece, Words):
            content = [{"type": "output_text", "text": piece.text}]
            yield {"type": "message", "role": "assistant", "content": content}
        else:
            call = {"call_id": piece.id, "name": piece.name, "arguments": piece.arguments}
            yield {"type": "function_call", **call}


def _reasoning(thought: Thought, item_id: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text} for text in thought.parts]
    item: dict[str, Any] = {"type": "reasoning", "id": item_id, "summary": summary}
    if thought.raw:
        item["content"] = [{"type": "reasoning_text", "text": thought.raw}]
    if thought.encrypted:
        item["encrypted_content"] = thought.encrypted
    return item
