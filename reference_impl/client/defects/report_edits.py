"""Defects in what a client reports of a stream; the functions at the door are named as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Final

from ..event import Event
from .defect import EventEdit

# Blocks that a defect makes up are numbered from here.
_MADE_UP: Final = 1000


def _each_event(edit: EventEdit) -> Callable[[], EventEdit]:
    """A door that remembers nothing."""
    return lambda: edit


def without(*kinds: str) -> Callable[[], EventEdit]:
    """Events of these types are lost."""
    return _each_event(lambda event: () if event.type in kinds else (event,))


def _first_after_thinking(edit: EventEdit) -> Callable[[], EventEdit]:
    """A door for the first delta of text that follows thinking."""

    def door() -> EventEdit:
        after_thinking = False

        def edit_first(event: Event) -> Iterable[Event]:
            nonlocal after_thinking
            after_thinking = after_thinking or event.type == "thinking.delta"
            if event.type != "text.delta" or not after_thinking:
                return (event,)
            after_thinking = False
            return edit(event)

        return edit_first

    return door


def _with_numbered_blocks(
    edit: Callable[[Event, Iterator[int]], Iterable[Event]],
) -> Callable[[], EventEdit]:
    """A door that makes blocks up; `edit` is given their numbers."""

    def door() -> EventEdit:
        blocks = count(_MADE_UP + 1)
        return lambda event: edit(event, blocks)

    return door


def _event_with(event: Event, **fields: Any) -> Event:
    return Event(event.type, {**event.data, **fields}, event.choice)


def _event_beside(event: Event, kind: str, /, **data: Any) -> Event:
    return Event(kind, data, event.choice)


@_with_numbered_blocks
def start_per_chunk(event: Event, blocks: Iterator[int]) -> Iterator[Event]:
    if event.type == "thinking.delta":
        block = next(blocks)
        channel = event.data["channel"]
        yield _event_beside(event, "thinking.start", block=block, channel=channel, explicit=False)
        yield _event_with(event, block=block)
        yield _event_beside(event, "thinking.end", block=block, explicit=False)
    elif event.type not in ("thinking.start", "thinking.end"):
        yield event


@_each_event
def thinking_start_twice(event: Event) -> Iterator[Event]:
    yield event
    if event.type == "thinking.start":
        yield event


@_first_after_thinking
def drop_on_boundary_chunk(_: Event) -> Iterator[Event]:
    """The text is lost: it came in the chunk that ended the thinking."""
    yield from ()


@_each_event
def text_start_on_role_chunk(event: Event) -> Iterator[Event]:
    yield event
    if event.type == "message.start":
        yield _event_beside(event, "text.start", block=_MADE_UP)


@_each_event
def message_start_per_chunk(event: Event) -> Iterator[Event]:
    if event.type == "thinking.delta":
        yield _event_beside(event, "message.start", role="assistant")
    yield event


@_each_event
def completed_on_cut(event: Event) -> Iterator[Event]:
    if event.type == "cut":
        yield _event_beside(event, "finish", reason="stop")
        yield _event_beside(event, "done", explicit=False)
    else:
        yield event


@_first_after_thinking
def marker_leak(event: Event) -> Iterator[Event]:
    """The close marker of the thinking shows in front of the text."""
    yield _event_with(event, text="</think>" + event.data["text"])


@_each_event
def summary_parts_merged(event: Event) -> Iterator[Event]:
    if event.type == "thinking.delta" and event.data.get("part"):
        event = _event_with(event, part=0)
    if event.type != "thinking.part" or event.data["part"] == 0:
        yield event


@_each_event
def opaque_shown(event: Event) -> Iterator[Event]:
    yield event
    if event.type == "thinking.opaque":
        yield _event_beside(event, "text.start", block=_MADE_UP)
        yield _event_beside(event, "text.delta", block=_MADE_UP, text=event.data["data"])
        yield _event_beside(event, "text.end", block=_MADE_UP)


@_with_numbered_blocks
def start_on_opaque_only(event: Event, blocks: Iterator[int]) -> Iterator[Event]:
    if event.type != "thinking.opaque":
        yield event
        return
    block = next(blocks)
    yield _event_beside(event, "thinking.start", block=block, channel="raw", explicit=False)
    yield event
    yield _event_beside(event, "thinking.end", block=block, explicit=False)


def thinking_after_text_reopened_same_block() -> EventEdit:
    """Thinking that comes later is added to the first block, which has ended."""
    first: dict[int, int] = {}

    def edit(event: Event) -> Iterator[Event]:
        if event.type == "thinking.start" and event.choice not in first:
            first[event.choice] = event.data["block"]
        elif event.type == "thinking.start":
            return
        if event.type in ("thinking.delta", "thinking.part", "thinking.end"):
            event = _event_with(event, block=first[event.choice])
        yield event

    return edit


@_each_event
def empty_delta_told(event: Event) -> Iterator[Event]:
    if event.type == "thinking.delta":
        yield _event_with(event, text="")
    yield event


@_each_event
def thinking_summed(event: Event) -> Iterator[Event]:
    if event.type == "thinking.delta":
        event = _event_with(event, text=event.data["text"] * 2)
    yield event


@_each_event
def length_as_stop(event: Event) -> Iterator[Event]:
    if event.type == "finish" and event.data["reason"] == "length":
        event = _event_with(event, reason="stop")
    yield event


_AS_TEXT: Final[Mapping[str, str]] = {
    "thinking.start": "text.start",
    "thinking.delta": "text.delta",
    "thinking.end": "text.end",
}


@_each_event
def thinking_as_text(event: Event) -> Iterator[Event]:
    """All thinking is reported as text of a block of its own."""
    kind = _AS_TEXT.get(event.type)
    if kind == "text.delta":
        yield _event_beside(event, kind, block=event.data["block"], text=event.data["text"])
    elif kind:
        yield _event_beside(event, kind, block=event.data["block"])
    elif event.type != "thinking.part":
        yield event


def unicode_split(chunk: bytes) -> bytes:
    return chunk.decode("utf-8", "replace").encode()
