"""Responses requests: a reasoning item is in front of the rest of its own turn.

The API refuses reasoning that nothing follows and ids that come twice, and opens only the
encrypted content that it sealed itself. Nothing is stored there, so everything is sent again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import effort
from .ask import Ask
from .turn import Piece, Thought, Turn, Words


def body(ask: Ask) -> dict[str, Any]:
    """The JSON of a request."""
    made: dict[str, Any] = {
        "model": ask.model,
        "input": list(_items(ask)),
        "stream": True,
        "store": False,
        **effort.responses(ask),
        **ask.sampling,
    }
    if ask.like.keeps_items and ask.sends_thinking("responses") and _may_think(ask):
        made["include"] = ["reasoning.encrypted_content"]
    if system := [turn.text for turn in ask.turns if _is_instructed(turn, ask)]:
        made["instructions"] = "\n\n".join(system)
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
            yield from _assistant(turn, number, used, ask)
        elif not _is_instructed(turn, ask):
            yield {"type": "message", "role": _role(turn, ask), "content": turn.text}


def _may_think(ask: Ask) -> bool:
    return ask.like.takes_effort(ask.model)


def _is_instructed(turn: Turn, ask: Ask) -> bool:
    """Whether a turn goes into a field of its own."""
    return turn.role == "system" and ask.like.instructions == "instructions"


def _role(turn: Turn, ask: Ask) -> str:
    """Models that think take their instructions from a developer."""
    is_told = turn.role == "system" and ask.thinks
    return ask.like.instructions if is_told else turn.role


def _assistant(turn: Turn, number: int, used: set[str], ask: Ask) -> Iterator[dict[str, Any]]:
    pieces = list(turn.thinking_first if ask.like.thinking_first else turn.pieces)
    if not ask.like.keeps_items:
        pieces = _text_alone(turn)
    while pieces and isinstance(pieces[-1], Thought):
        pieces.pop()
    for at, piece in enumerate(pieces):
        if isinstance(piece, Thought):
            if ask.sends_thinking("responses"):
                item_id = piece.id if piece.id and piece.id not in used else f"rs_{number}_{at}"
                used.add(item_id)
                yield _reasoning(piece, item_id)
        elif isinstance(piece, Words):
            content = [{"type": "output_text", "text": piece.text}]
            yield {"type": "message", "role": "assistant", "content": content}
        else:
            call = {"call_id": piece.id, "name": piece.name, "arguments": piece.arguments}
            yield {"type": "function_call", **call}


def _text_alone(turn: Turn) -> list[Piece]:
    """One thought in front, its text as it was streamed, without anything else of it."""
    thought = [Thought(parts=(turn.streamed,))] if turn.streamed else []
    return [*thought, *(piece for piece in turn.pieces if not isinstance(piece, Thought))]


def _reasoning(thought: Thought, item_id: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text} for text in thought.parts]
    item: dict[str, Any] = {"type": "reasoning", "id": item_id, "summary": summary}
    if thought.raw:
        item["content"] = [{"type": "reasoning_text", "text": thought.raw}]
    if thought.encrypted:
        item["encrypted_content"] = thought.encrypted
    return item
