"""What a generation says: the only words that cross from the engine to the APIs.

    Start (ReasoningDelta | TextDelta | ToolCall)* Finish

Texts are never empty, and never hold a marker or half a character.
A generation that fails raises `EngineError` in place of the next event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Reason = Literal["stop", "length", "tool_calls", "cancelled"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens: of the prompt, of all that was generated, and of the thinking in it.

    `completion` counts markers and the end token too, `reasoning` only what lies between markers.
    """

    prompt: int
    completion: int
    reasoning: int


@dataclass(frozen=True, slots=True)
class Start:
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of thinking, and how many tokens it took."""

    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One whole call; `arguments` is JSON text as the model wrote it, `id_hint` counts from 0."""

    name: str
    arguments: str
    id_hint: int


@dataclass(frozen=True, slots=True)
class Finish:
    """The last event. `stop_string` is the stop string that ended the text, if one did."""

    reason: Reason
    usage: Usage
    stop_string: str | None = None


EngineEvent = Start | ReasoningDelta | TextDelta | ToolCall | Finish
