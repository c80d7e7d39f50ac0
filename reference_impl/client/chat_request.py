"""Chat Completions requests: thinking goes back in `reasoning_content` of its own message.

Opaque fields go back as they came, those of them that the client keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from . import effort
from .ask import Ask
from .chat_fields import DETAILS, EXTRAS
from .likeness import FIELD
from .turn import Called, Thought, Turn, Words

_MISTRAL_OWN: Final = ("role", "tool_calls")


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
    return {**made, **limits_and_tools(ask)}


def limits_and_tools(ask: Ask) -> dict[str, Any]:
    """How long an answer may be and what it may call, where either was said."""
    limits = {} if ask.max_tokens is None else {"max_tokens": ask.max_tokens}
    tools = [dict(tool) for tool in ask.tools]
    return {**limits, "tools": tools} if tools else limits


def message_to_model(turn: Turn) -> dict[str, Any]:
    """The message of a turn that is not the model's: words, or the result of a call."""
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": turn.call_id, "content": turn.text}
    return {"role": turn.role, "content": turn.text}


def _message(turn: Turn, ask: Ask) -> dict[str, Any]:
    if turn.role != "assistant":
        return message_to_model(turn)
    message = {"role": "assistant", "content": turn.text, **_thinking(turn, ask)}
    if turn.calls:
        kept = turn.echo.get(EXTRAS, {}) if DETAILS in ask.like.opaque_fields else {}
        message["tool_calls"] = [_call(call, kept.get(str(n))) for n, call in enumerate(turn.calls)]
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


def _call(call: Called, extra: Mapping[str, Any] | None) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    made = {"id": call.id, "type": "function", "function": function}
    return {**made, "extra_content": extra} if extra else made


def mistral_body(ask: Ask) -> dict[str, Any]:
    """The JSON of a request to Mistral: thinking goes back as the part of the content that it was.

    Fields that the API does not have are refused: usage comes unasked, and ids of calls are theirs.
    """
    made = body(ask)
    del made["stream_options"]
    if "seed" in made:
        made["random_seed"] = made.pop("seed")
    made["messages"] = [
        _mistral_message(turn, message, sends=ask.sends_thinking("mistral"))
        for turn, message in zip(ask.turns, made["messages"], strict=True)
    ]
    return made


def _mistral_message(turn: Turn, message: dict[str, Any], *, sends: bool) -> dict[str, Any]:
    if turn.role != "assistant":
        return message
    kept: dict[str, Any] = {key: message[key] for key in _MISTRAL_OWN if key in message}
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
