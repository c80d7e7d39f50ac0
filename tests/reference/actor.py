"""An engine that acts a part: it says what a model would to every kind of request."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final

from reference_impl.server.engine import (
    EngineEvent,
    Finish,
    Limits,
    Markers,
    Prompt,
    ReasoningDelta,
    Start,
    Stream,
    TextDelta,
    ToolCall,
    Usage,
)

THOUGHT: Final = (
    "Bees learn ",
    "landmarks ",
    "and the place ",
    "of the sun ☀ ",
    "on their first flights.",
)
TEXT: Final = ("They remember ", "landmarks, ", "steer by the ☀", " and ", "fly home 🐝.")
SUMMARY: Final = ("Bees learn landmarks", " early on.\n", "\nThe sun ", "helps them.")
ARGUMENTS: Final = ('{"a": 2, "b": 3}', '{"a": 20, "b": 30}')
SHORT: Final = 32  # max_tokens below this cut the thinking


class Actor:
    """Plays by what it is asked; a `Model` for the server."""

    model_id = "actor"
    context = 4096

    def __init__(self, markers: Markers | None = Markers("<think>", "</think>", 1, 2)) -> None:  # noqa: B008 - frozen
        self.markers = markers
        self.running = 0
        self._numbers = count()
        self._asked: dict[Prompt, tuple[Sequence[Mapping[str, Any]], bool, bool]] = {}

    def prompt(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        thinking: bool = True,
    ) -> Prompt:
        prompt = Prompt((next(self._numbers), *range(11)), opens_thinking=False)
        self._asked[prompt] = (messages, bool(tools), thinking)
        return prompt

    def generate(self, prompt: Prompt, limits: Limits, *, parent: Stream | None = None) -> Stream:
        del parent
        messages, has_tools, thinks = self._asked.pop(prompt)
        events = tuple(_part(messages, limits, has_tools=has_tools, thinks=thinks))
        return self._play((Start(len(prompt.ids)), *events))

    async def _play(self, events: tuple[EngineEvent, ...]) -> AsyncGenerator[EngineEvent, None]:
        self.running += 1
        try:
            for event in events:
                yield event
        finally:
            self.running -= 1


def _part(
    messages: Sequence[Mapping[str, Any]], limits: Limits, *, has_tools: bool, thinks: bool
) -> Iterator[EngineEvent]:
    if str(messages[-1]["content"]).startswith("Summarise"):
        yield from map(TextDelta, SUMMARY)
        yield Finish("stop", Usage(30, 9, 0))
        return
    thought = THOUGHT if thinks else ()
    budget = limits.thinking_budget
    if thinks and limits.max_tokens is not None and limits.max_tokens < SHORT:
        cut = THOUGHT[:1] if budget is not None else THOUGHT[:2]
        yield from (ReasoningDelta(text, 3) for text in cut)
        if budget is not None:
            yield TextDelta(TEXT[0])
        yield Finish("length", Usage(12, limits.max_tokens, 3 * len(cut)))
        return
    yield from (ReasoningDelta(text, 5) for text in thought)
    if has_tools and messages[-1]["role"] == "user":
        yield ToolCall("calculator", ARGUMENTS[0], 0)
        yield ToolCall("calculator", ARGUMENTS[1], 1)
        yield Finish("tool_calls", Usage(12, 40, 5 * len(thought)))
        return
    yield from map(TextDelta, TEXT)
    yield Finish("stop", Usage(12, 40, 5 * len(thought)))
