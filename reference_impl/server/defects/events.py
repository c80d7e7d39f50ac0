"""Faults between the engine and the projection: texts, calls, counts and ends.

Each function is the defect of its name.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import replace

from ..engine import Finish, ReasoningDelta, Start, TextDelta, ToolCall, Usage
from ..summary import AnswerEvent, SummaryDelta, SummaryEnd
from . import crossed
from .defect import EventHook, Scene, each

Source = AsyncIterator[AnswerEvent]
TORN = "\ufffd"
crossed_texts = crossed.texts


async def leak_open_marker(events: Source, scene: Scene) -> Source:
    """The first visible text begins with the open marker."""
    leaked = False
    async for event in events:
        if isinstance(event, TextDelta) and not leaked:
            leaked = True
            yield TextDelta(scene.markers[0])
        yield event


def _first_after_thinking(
    edit: Callable[[TextDelta, str, Scene], Iterable[AnswerEvent]],
) -> EventHook:
    """A fault of the text that thinking passes into; `edit` is given the thinking, too."""

    async def hook(events: Source, scene: Scene) -> Source:
        thought = ""
        async for event in events:
            if isinstance(event, TextDelta) and thought:
                for made in edit(event, thought, scene):
                    yield made
                thought = ""
                continue
            thought += event.text if isinstance(event, ReasoningDelta) else ""
            yield event

    return hook


@_first_after_thinking
def leak_close_marker(text: TextDelta, _: str, scene: Scene) -> Iterator[AnswerEvent]:
    """The text begins with the close marker, in two pieces."""
    marker = scene.markers[1]
    yield TextDelta(marker[:3])
    yield TextDelta(marker[3:])
    yield text


@_first_after_thinking
def reasoning_in_content(text: TextDelta, thought: str, _: Scene) -> Iterator[AnswerEvent]:
    """Thinking is sent once more at the head of the visible text."""
    yield TextDelta(thought)
    yield text


@_first_after_thinking
def drop_on_boundary_chunk(text: TextDelta, _: str, scene: Scene) -> Iterator[AnswerEvent]:
    """In streams, the text is lost."""
    if not scene.streams:
        yield text


@_first_after_thinking
def strip_lost_text(text: TextDelta, _: str, scene: Scene) -> Iterator[AnswerEvent]:
    """Where thinking is hidden, the text is cut by its first character."""
    if not scene.hidden:
        yield text
    elif text.text[1:]:
        yield TextDelta(text.text[1:])


async def reasoning_late(events: Source, _: Scene) -> Source:
    """Thinking is sent when all else has been said."""
    held: list[AnswerEvent] = []
    async for event in events:
        if isinstance(event, ReasoningDelta | SummaryDelta | SummaryEnd):
            held.append(event)
            continue
        if isinstance(event, Finish):
            for late in held:
                yield late
        yield event


async def unicode_split(events: Source, scene: Scene) -> Source:
    """In streams, characters of several bytes are decoded byte by byte."""
    async for event in events:
        if isinstance(event, TextDelta | ReasoningDelta) and scene.streams:
            torn = (c if c.isascii() else TORN * len(c.encode()) for c in event.text)
            yield replace(event, text="".join(torn))
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


async def summary_unasked(events: Source, _: Scene) -> Source:
    """A summary is sent although none was asked for."""
    thought = summarised = False
    async for event in events:
        summarised = summarised or isinstance(event, SummaryDelta)
        if isinstance(event, ReasoningDelta):
            thought = True
        elif thought and not summarised:
            summarised = True
            yield SummaryDelta("Something was thought about.")
        yield event


def _cumulative_deltas(kind: type[TextDelta | ReasoningDelta]) -> EventHook:
    """Every delta of a kind repeats what came before it."""

    async def hook(events: Source, _: Scene) -> Source:
        text = ""
        async for event in events:
            if isinstance(event, kind):
                text += event.text
                yield replace(event, text=text)
            else:
                yield event

    return hook


text_cumulative = _cumulative_deltas(TextDelta)
reasoning_cumulative = _cumulative_deltas(ReasoningDelta)


def _never_sent(kind: type[ReasoningDelta | SummaryDelta]) -> EventHook:
    return each(lambda event: iter(() if isinstance(event, kind) else (event,)))


opt_in_ignored = _never_sent(ReasoningDelta)
summary_missing = _never_sent(SummaryDelta)


@each
def tool_arguments_torn(event: AnswerEvent) -> Iterator[AnswerEvent]:
    """The last character of a call's arguments is lost."""
    yield replace(event, arguments=event.arguments[:-1]) if isinstance(event, ToolCall) else event


@each
def stop_on_tools(event: AnswerEvent) -> Iterator[AnswerEvent]:
    """A turn that calls a tool ends as if it were complete."""
    if isinstance(event, Finish) and event.reason == "tool_calls":
        event = replace(event, reason="stop")
    yield event


def _miscounted_reasoning(reasoning: Callable[[Usage], int]) -> EventHook:
    """Usage counts another number of tokens of reasoning."""

    def edit(event: AnswerEvent) -> Iterator[AnswerEvent]:
        if isinstance(event, Finish):
            counted = replace(event.usage, reasoning=reasoning(event.usage))
            event = replace(event, usage=counted)
        yield event

    return each(edit)


reasoning_tokens_over_total = _miscounted_reasoning(lambda usage: usage.completion + 100_000)
reasoning_uncounted = _miscounted_reasoning(lambda _: 0)


@each
def summary_uncounted(event: AnswerEvent) -> Iterator[AnswerEvent]:
    """The tokens of the call for a summary are not in the usage."""
    yield SummaryEnd(Usage(0, 0, 0)) if isinstance(event, SummaryEnd) else event
