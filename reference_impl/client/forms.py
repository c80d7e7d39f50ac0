"""Turns as other systems persist them: Opal's messages, and those of the OpenHands SDK.

    {"role": "assistant", "content": "4.", "thinking": "2 plus 2 is 4.", "tool_calls": []}
    {"role": "assistant", "content": [{"type": "text", "text": "4."}],
     "reasoning_content": "2 plus 2 is 4.", "thinking_blocks": [], "tool_calls": []}

Both write null where nothing was thought. Neither keeps ids or sealed content of Responses here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from .payload import objects_of, text_of
from .turn import Piece, Thought, Turn, Words


def thinking(turn: Turn) -> dict[str, Any]:
    """Thinking as one text beside the content, its parts run together as they were streamed."""
    return {"content": turn.text, "thinking": turn.streamed or None, **_calls(turn)}


def message(turn: Turn) -> dict[str, Any]:
    """Content in blocks; thinking as one text, and signed or redacted thinking in blocks too."""
    sealed = [_block(thought) for thought in turn.thoughts if thought.signature or thought.redacted]
    return {
        "content": [{"type": "text", "text": turn.text}] if turn.text else [],
        "reasoning_content": turn.thinking or None,
        "thinking_blocks": sealed,
        **_calls(turn),
    }


def pieces(record: Mapping[str, Any]) -> Iterator[Piece]:
    """What a message in either form says before its calls."""
    blocks = objects_of(record.get("thinking_blocks"))
    for block in blocks:
        yield Thought(
            raw=text_of(block.get("thinking")),
            signature=text_of(block.get("signature")),
            redacted=text_of(block.get("data")),
        )
    thought = text_of(record.get("thinking")) or text_of(record.get("reasoning_content"))
    if thought and not any(block.get("thinking") for block in blocks):
        yield Thought(raw=thought)
    content = record.get("content")
    text = text_of(content) or "".join(text_of(each.get("text")) for each in objects_of(content))
    if text:
        yield Words(text)


def _block(thought: Thought) -> dict[str, Any]:
    if thought.redacted:
        return {"type": "redacted_thinking", "data": thought.redacted}
    return {"type": "thinking", "thinking": thought.text, "signature": thought.signature}


def _calls(turn: Turn) -> dict[str, Any]:
    return {"tool_calls": [asdict(call) for call in turn.calls]}
