"""Answers of a model that no recording has, as event streams: what may stand behind an application.

python -m tests.live.applications.scripted FOLDER
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

Delta = Mapping[str, str]


def said(*texts: str) -> list[Delta]:
    """Visible text, a chunk each."""
    return [{"content": text} for text in texts]


def thought(*texts: str, field: str = "reasoning_content") -> list[Delta]:
    """Thinking, a chunk each."""
    return [{field: text} for text in texts]


_MIRRORED: Final = [
    {"reasoning": each, "reasoning_content": each} for each in ("Two and ", "two make ", "four.")
]
# Deltas of Chat Completions, and the reason with which each ends.
CHATS: Final[Mapping[str, tuple[Sequence[Delta], str]]] = {
    "tags-whole": (said("<think>", "Two and two.", "</think>", "It is ", "four."), "stop"),
    "tags-split": (said("<th", "ink>Two and ", "two.</", "think>", "It is ", "four."), "stop"),
    "tags-glued": (said("<think>Two and two.", " Yes.</think>It is ", "four."), "stop"),
    "tags-empty": (said("<think>", "</think>", "It is ", "four."), "stop"),
    "tags-second-empty": (
        said("<think>", "Two.", "</think>", "It is ", "<think>", "</think>", "four."),
        "stop",
    ),
    "tags-unclosed": (said("<think>", "Two and two and ", "two and"), "length"),
    "thinking-again": (
        [
            *(*thought("First ", "thought."), *said("Part one. ")),
            *(*thought("Second ", "thought."), *said("Part two.")),
        ],
        "stop",
    ),
    "thinking-in-two-fields": ([*_MIRRORED, *said("It is ", "four.")], "stop"),
    "thinking-and-text-in-one-chunk": (
        [*thought("Two and "), {"reasoning_content": "two.", "content": "It is "}, *said("four.")],
        "stop",
    ),
    "thinking-only": (thought("Two and ", "two and ", "two and"), "length"),
}
_BROKEN: Final[Sequence[Mapping[str, Any]]] = (
    {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 9, "output_tokens": 1},
        },
    },
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "thinking", "thinking": "", "signature": ""},
    },
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "thinking_delta", "thinking": "Two and two"},
    },
    {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
)
"""Messages: an error inside the thinking."""


def write(folder: Path) -> None:
    """A folder for each API, with a file for each answer."""
    for api in ("openai.chat", "anthropic.messages"):
        (folder / api).mkdir(parents=True, exist_ok=True)
    for name, (deltas, reason) in CHATS.items():
        lines = [_chunk(each) for each in deltas] + [_chunk({}, reason), "data: [DONE]\n\n"]
        (folder / "openai.chat" / f"{name}.sse").write_text("".join(lines), "utf-8")
    events = (f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in _BROKEN)
    broken = folder / "anthropic.messages" / "error-in-thinking.sse"
    broken.write_text("".join(events), "utf-8")


def _chunk(delta: Delta, reason: str | None = None) -> str:
    choice = {"index": 0, "delta": dict(delta), "finish_reason": reason}
    chunk = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    return f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n"


if __name__ == "__main__":
    write(Path(sys.argv[1]))
