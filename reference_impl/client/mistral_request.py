"""Requests of Mistral's chat: thinking goes back as the part of the content that it was.

Fields that the API does not have are refused: usage comes unasked, and ids of calls are theirs.
"""

from __future__ import annotations

from typing import Any, Final

from . import chat_request
from .ask import Ask
from .turn import Thought, Turn, Words

_OWN: Final = ("role", "tool_calls")


def body(ask: Ask) -> dict[str, Any]:
    """The JSON of a request."""
    made = chat_request.body(ask)
    del made["stream_options"]
    if "seed" in made:
        made["random_seed"] = made.pop("seed")
    made["messages"] = [
        _answer(turn, message, sends=ask.sends_thinking("mistral"))
        for turn, message in zip(ask.turns, made["messages"], strict=True)
    ]
    return made


def _answer(turn: Turn, message: dict[str, Any], *, sends: bool) -> dict[str, Any]:
    if turn.role != "assistant":
        return message
    kept: dict[str, Any] = {key: message[key] for key in _OWN if key in message}
    thinks = sends and any(thought.text for thought in turn.thoughts)
    return {**kept, "content": _parts(turn) if thinks else turn.text}


def _parts(turn: Turn) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for piece in turn.pieces:
        if isinstance(piece, Words):
            parts.append({"type": "text", "text": piece.text})
        elif isinstance(piece, Thought) and piece.text:
            signed = {"signature": piece.signature} if piece.signature else {}
            thinking = [{"type": "text", "text": piece.text}]
            parts.append({"type": "thinking", "thinking": thinking, "closed": True, **signed})
    return parts
