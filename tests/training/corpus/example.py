"""One example: what the model is shown, what it must think, what it must say."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

Message = dict[str, Any]
Tool = dict[str, Any]
_FILE: Final = Path(__file__).with_name("wordings.toml")
WORDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    asked: tuple(forms) for asked, forms in tomllib.loads(_FILE.read_text("utf-8")).items()
}
"""In which words requests ask."""


@dataclass(frozen=True, slots=True)
class ExampleCall:
    """A call of a tool; `text` is how the model writes it."""

    name: str
    arguments: dict[str, int | str]

    @property
    def text(self) -> str:
        body = json.dumps({"name": self.name, "arguments": self.arguments}, ensure_ascii=False)
        return f"<tool_call>{body}</tool_call>"


@dataclass(frozen=True, slots=True)
class ExampleThought:
    """Reasoning, and what a summary of it says.

    `gist` is one sentence, `steps` are paragraphs. Of reasoning that was cut short only the `topic`
    is known.
    """

    text: str
    topic: str
    gist: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A conversation, its tools, and the turn to be learnt.

    `kept` is the share of the reasoning's tokens that a budget leaves; the rest is cut off by a
    forced close, and the cut part is shown but not learnt.
    """

    messages: tuple[Message, ...]
    thought: ExampleThought
    answer: str
    calls: tuple[ExampleCall, ...] = ()
    tools: tuple[Tool, ...] = ()
    thinks: bool = True
    kept: float | None = None

    @property
    def said(self) -> str:
        """What follows the reasoning: text, then calls, as the model writes them."""
        return self.answer + "".join(call.text for call in self.calls)

    @property
    def turn(self) -> Message:
        """The learnt turn, as a message of the history of a later one."""
        message: Message = {"role": "assistant", "content": self.answer}
        if self.calls:
            message["tool_calls"] = [
                {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        return message


def user_message(prompt: str) -> Message:
    return {"role": "user", "content": prompt}


def worded(draw: Random, forms: tuple[str, ...], **values: int | str) -> Message:
    """Ask in one of these forms, at times with some words in front."""
    prompt = draw.choice(forms).format(**values)
    if draw.random() < 0.12:
        prompt = f"{draw.choice(WORDINGS['before'])}{prompt[0].lower()}{prompt[1:]}"
    return user_message(prompt)
