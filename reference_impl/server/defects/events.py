"""Faults between the engine and the projection: texts, calls, counts and ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

from ..engine import Finish, ReasoningDelta, Start, TextDelta, ToolCall, Usage
from ..summary import AnswerEvent, SummaryDelta, SummaryEnd
from .defect import Scene

Source = AsyncIterator[AnswerEvent]
TORN = "\ufffd"


async def leak_open_marker(events: Source, scene: Scene) -> Source:
    """The first visible text begins with the open marker."""
    leaked = False
    async for event in events:
        if isinstance(event, TextDelta) and not leaked:
            leaked = True
            yield TextDelta(scene.markers[0])
        yield event


async def leak_close_marker(events: Source, scene: Scene) -> Source:
    """The text that follows thinking begins with the close marker, in two pieces."""
    thought = False
    async for event in events:
        if isinstance(event, TextDelta) and thought:
            thought = False
            marker = scene.markers[1]
            yield TextDelta(marker[:3])
            yield TextDelta(marker[3:])
        thought = thought or isinstance(event, ReasoningDelta)
        yield event


async def reasoning_in_content(events: Source, scene: Scene) -> Source:
    """Thinking is sent once more at the head of the visible text."""
    del scene
    thought = ""
    async for event in events:
        if isinstance(event, ReasoningDelta):
            thought += event.text
        elif isinstance(event, TextDelta) and thought:
            yield TextDelta(thought)
            thought = ""
        yield event


async def reasoning_late(events: Source, scene: Scene) -> Source:
    """Thinking is sent when all else has been said."""
    del scene
    held: list[AnswerEvent] = []
    async for event in events:
        if isinstance(event, ReasoningDelta | SummaryDelta | SummaryEnd):
            held.append(event)
            continue
        if isinstance(event, Finish):
            for late in held:
                yield late
        yield event


async def drop_on_boundary_chunk(events: Source, scene: Scene) -> Source:
    """In streams, the text that thinking passes into is lost."""
    thought = False
    async for event in events:
        is_boundary = thought and isinstance(event, TextDelta)
        thought = isinstance(event, ReasoningDelta | SummaryDelta | SummaryEnd) or (
            thought and not is_boundary
        )
        if not (is_boundary and scene.streams):
            yield event


async def strip_lost_text(events: Source, scene: Scene) -> Source:
    """Where thinking is hidden, the text behind it is cut by its first character."""
    thought = False
    async for event in events:
        if isinstance(event, TextDelta) and thought and scene.hidden:
            thought = False
            if event.text[1:]:
                yield TextDelta(event.text[1:])
            continue
        thought = thought or isinstance(event, ReasoningDelta)
        yield event


async def unicode_split(events: Source, scene: Scene) -> Source:
    """In streams, characters of several bytes are decoded byte by byte."""
    async for event in events:
        if isinstance(event, TextDelta | ReasoningDelta) and scene.streams:
            yield replace(event, text=_bytewise(event.text))
        else:
            yield event


def _bytewise(text: str) -> str:
    return "".join(char if char.isascii() else TORN * len(char.encode()) for char in text)


async def text_cumulative(events: Source, scene: Scene) -> Source:
    """Every text delta repeats what came before it."""
    del scene
    text = ""
    async for event in events:
        if isinstance(event, TextDelta):
            text += event.text
            yield TextDelta(text)
        else:
            yield event


async def reasoning_cumulative(events: Source, scene: Scene) -> Source:
    """Every delta of thinking repeats what came before it."""
    del scene
    text = ""
    async for event in events:
        if isinstance(event, ReasoningDelta):
            text += event.text
            yield replace(event, text=text)
        else:
            yield event


async def effort_ignored(events: Source, scene: Scene) -> Source:
    """There is thinking, and it is counted, although the request turned it off."""
    if scene.thinks:
        async for event in events:
            yield event
        return
    async for event in events:
        if isinstance(event, Finish):
            usage = event.usage
            more = Usage(usage.prompt, usage.completion + 4, usage.reasoning + 4)
            yield replace(event, usage=more)
        else:
            yield event
        if isinstance(event, Start):
            yield ReasoningDelta("Let me think. ", 4)


async def opt_in_ignored(events: Source, scene: Scene) -> Source:
    """Thinking is never sent, whatever the request says."""
    del scene
    async for event in events:
        if not isinstance(event, ReasoningDelta):
            yield event


async def tool_arguments_torn(events: Source, scene: Scene) -> Source:
    """The last character of a call's arguments is lost."""
    del scene
    async for event in events:
        if isinstance(event, ToolCall):
            yield replace(event, arguments=event.arguments[:-1])
        else:
            yield event


async def stop_on_tools(events: Source, scene: Scene) -> Source:
    """A turn that calls a tool ends as if it were complete."""
    del scene
    async for event in events:
        if isinstance(event, Finish) and event.reason == "tool_calls":
            yield replace(event, reason="stop")
        else:
            yield event


async def reasoning_tokens_over_total(events: Source, scene: Scene) -> Source:
    """Usage counts more reasoning than output."""
    del scene
    async for event in events:
        if isinstance(event, Finish):
            usage = event.usage
            yield replace(event, usage=replace(usage, reasoning=usage.completion + 100_000))
        else:
            yield event


async def reasoning_uncounted(events: Source, scene: Scene) -> Source:
    """Usage counts no reasoning."""
    del scene
    async for event in events:
        if isinstance(event, Finish):
            yield replace(event, usage=replace(event.usage, reasoning=0))
        else:
            yield event


async def summary_missing(events: Source, scene: Scene) -> Source:
    """A summary that was asked for is made, and never sent."""
    del scene
    async for event in events:
        if not isinstance(event, SummaryDelta):
            yield event


async def summary_unasked(events: Source, scene: Scene) -> Source:
    """A summary is sent although none was asked for."""
    del scene
    thought = summarised = False
    async for event in events:
        summarised = summarised or isinstance(event, SummaryDelta)
        if isinstance(event, ReasoningDelta):
            thought = True
        elif thought and not summarised:
            summarised = True
            yield SummaryDelta("Something was thought about.")
        yield event


async def summary_uncounted(events: Source, scene: Scene) -> Source:
    """The tokens of the call for a summary are not in the usage."""
    del scene
    async for event in events:
        yield SummaryEnd(Usage(0, 0, 0)) if isinstance(event, SummaryEnd) else event
