"""The events of a generation: all that crosses from the engine to the APIs.

    Start (ReasoningDelta | TextDelta | ToolCall)* Finish

Texts are never empty, and never hold a marker or half a character.
A generation that fails raises `EngineError` in place of the next event.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from math import isfinite
from typing import Final, Literal, Protocol


class EngineError(Exception):
    """The engine failed, or was closed: the server's fault."""


class PromptError(EngineError):
    """These messages cannot be made into a prompt: the caller's fault."""


class PromptTooLong(PromptError):  # noqa: N818 - names the fact, as the HTTP errors do
    """The prompt leaves no room for a single token of an answer."""

    def __init__(self, tokens: int, context: int) -> None:
        super().__init__(f"prompt of {tokens} tokens, but the context holds {context} with answer")
        self.tokens = tokens
        self.context = context


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


MAX_STOPS: Final = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a generation ends and how it chooses; raises ValueError for values without sense.

    `max_tokens` and `thinking_budget` are tokens, None is no bound but the context.
    `temperature` 0 is greedy; `seed` None takes one from the system.
    `stop` strings end the visible text and are not part of it.
    """

    max_tokens: int | None = None
    thinking_budget: int | None = None
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, but is {self.max_tokens}")
        if self.thinking_budget is not None and self.thinking_budget < 0:
            raise ValueError(f"thinking_budget must be at least 0, but is {self.thinking_budget}")
        if not isfinite(self.temperature) or self.temperature < 0:
            raise ValueError(f"temperature must be at least 0, but is {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, but is {self.top_p}")
        if len(self.stop) > MAX_STOPS or not all(self.stop):
            raise ValueError(f"stop must be at most {MAX_STOPS} strings, none of them empty")


@dataclass(frozen=True, slots=True)
class Prompt:
    """Token ids that the model goes on from, and whether they end inside thinking."""

    ids: tuple[int, ...]
    opens_thinking: bool


class Stream(Protocol):
    """Events of one generation; closing it, or cancelling who waits for it, ends the work."""

    def __aiter__(self) -> AsyncIterator[EngineEvent]: ...

    def __anext__(self) -> Awaitable[EngineEvent]: ...

    async def aclose(self) -> None: ...
