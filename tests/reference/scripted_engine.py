"""An engine that says what it is told: for tests of everything above the engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from reference_impl.server.engine.events import (
    EngineError,
    EngineEvent,
    Finish,
    Limits,
    Prompt,
    PromptError,
    ReasoningDelta,
    Start,
    Stream,
    TextDelta,
    ToolCall,
    Usage,
)
from reference_impl.server.engine.markers import Markers

USAGE: Final = Usage(7, 20, 6)
THINK: Final = (Start(7), ReasoningDelta("2 plus ", 3), ReasoningDelta("2.", 3), TextDelta("4"))
DONE: Final = Finish("stop", USAGE)
CALL: Final = ToolCall("add", '{"a":2}', 0)
CALLED: Final = (*THINK[:3], CALL, Finish("tool_calls", USAGE))
Step = EngineEvent | EngineError | asyncio.Event
"""Said, raised, or waited for."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One call of `prompt`."""

    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Mapping[str, Any], ...]
    thinking: bool


@dataclass(slots=True)
class Call:
    """One call of `generate`; `ended` says whether its stream is over, `unsaid` what was left."""

    prompt: Prompt
    limits: Limits
    parent: Stream | None
    ended: bool = False
    unsaid: list[Step] = field(default_factory=list)


class ScriptedEngine:
    """The n-th `generate` plays the n-th script; a call beyond the last raises EngineError.

    An `EngineError` in a script is raised at its place, an `asyncio.Event` is waited for.
    `refuse` is raised by every `prompt`.
    """

    def __init__(
        self,
        scripts: Iterable[Sequence[Step]],
        *,
        markers: Markers | None = Markers("<think>", "</think>", 1, 2),  # noqa: B008 - frozen
        opens_thinking: bool = False,
        refuse: PromptError | None = None,
    ) -> None:
        self.markers = markers
        self.model_id = "scripted"
        self.context = 4096
        self.asked: list[SentRequest] = []
        self.calls: list[Call] = []
        self._scripts = iter(scripts)
        self._opens_thinking = opens_thinking
        self._refuse = refuse

    def prompt(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        thinking: bool = True,
    ) -> Prompt:
        """One id per message, so that a prompt says how long its conversation was."""
        if self._refuse is not None:
            raise self._refuse
        self.asked.append(SentRequest(tuple(messages), tuple(tools), thinking))
        return Prompt(tuple(range(len(messages))), self._opens_thinking)

    def generate(self, prompt: Prompt, limits: Limits, *, parent: Stream | None = None) -> Stream:
        script = next(self._scripts, None)
        if script is None:
            raise EngineError(f"call {len(self.calls) + 1}, but no script is left")
        call = Call(prompt, limits, parent, unsaid=list(script))
        self.calls.append(call)
        return _play(call)

    @property
    def idle(self) -> bool:
        return all(call.ended for call in self.calls)

    def wait_idle(self, timeout_s: float) -> bool:
        """Nothing runs in the background here, so waiting changes nothing."""
        del timeout_s
        return self.idle

    def close(self) -> None:
        """Nothing to end."""


async def _play(call: Call) -> AsyncGenerator[EngineEvent, None]:
    try:
        while call.unsaid:
            step = call.unsaid.pop(0)
            if isinstance(step, EngineError):
                raise step
            if isinstance(step, asyncio.Event):
                await step.wait()
            else:
                yield step
    finally:
        call.ended = True
