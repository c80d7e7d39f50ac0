"""A summary of the thinking: a second call of the same engine, woven into the first one's events.

Rule 1: the call begins when the thinking has ended, and runs beside the answer in one batch. The
        answer is held back until the summary is complete, so that each item closes in its turn.
Rule 2: thinking that was cut has no summary, and neither has none at all.
Rule 3: the call's tokens are added to the usage; they do not count against the request's limit.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from ..model import CONCISE, DETAILED
from .engine import (
    EngineError,
    EngineEvent,
    Finish,
    Limits,
    Model,
    ReasoningDelta,
    Stream,
    TextDelta,
    Usage,
)
from .settings import SummaryFailure, SummaryStyle

_log: Final = logging.getLogger(__name__)

_INSTRUCTIONS: Final[Mapping[SummaryStyle, str]] = {
    "auto": CONCISE,
    "concise": CONCISE,
    "detailed": DETAILED,
}


@dataclass(frozen=True, slots=True)
class SummaryDelta:
    text: str


@dataclass(frozen=True, slots=True)
class SummaryEnd:
    """The summary is complete; `usage` is what the call took."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class SummaryFailed:
    """There will be no more of the summary, and no answer."""

    message: str
    usage: Usage


AnswerEvent = EngineEvent | SummaryDelta | SummaryEnd | SummaryFailed


@dataclass(frozen=True, slots=True)
class Summariser:
    """Makes summaries in one style; a failure ends the response, or leaves the summary empty."""

    model: Model
    style: SummaryStyle
    on_failure: SummaryFailure

    async def woven(self, main: Stream) -> AsyncGenerator[AnswerEvent, None]:
        """The events of a generation with those of its summaries."""
        thought: list[str] = []
        async with aclosing(main):
            async for event in main:
                is_cut = isinstance(event, Finish) and event.reason in ("length", "cancelled")
                if isinstance(event, ReasoningDelta):
                    thought.append(event.text)
                elif thought and not is_cut:
                    async for summary_event in self._summary("".join(thought), main):
                        yield summary_event
                    thought.clear()
                yield event

    async def _summary(self, thought: str, main: Stream) -> AsyncGenerator[AnswerEvent, None]:
        spent = Usage(0, 0, 0)
        try:
            asked = _INSTRUCTIONS[self.style].format(reasoning=thought)
            prompt = self.model.prompt(({"role": "user", "content": asked},), thinking=False)
            spent = Usage(len(prompt.ids), 0, 0)
            async with aclosing(self.model.generate(prompt, Limits(), parent=main)) as child:
                async for event in child:
                    if isinstance(event, TextDelta):
                        yield SummaryDelta(event.text)
                    elif isinstance(event, Finish):
                        yield SummaryEnd(event.usage)
                        return
            failure = "it ended without saying why"
        except EngineError as err:
            failure = str(err)
        _log.warning("the call for a summary failed: %s", failure)
        if self.on_failure == "empty":
            yield SummaryEnd(spent)
        else:
            yield SummaryFailed(f"the call for a summary failed: {failure}", spent)
