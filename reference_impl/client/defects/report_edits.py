"""Defects in what a client reports of a stream; the functions at the door are named as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ..event import Event
from .defect import EventEdit

# Blocks that a defect makes up are numbered from here.
_MADE_UP: Final = 1000


def _each(edit: EventEdit) -> Callable[[], EventEdit]:
    """A door that remembers nothing."""
    return lambda: edit


def without(*kinds: str) -> Callable[[], EventEdit]:
    """Events of these types are lost."""
    return _each(lambda event: () if event.type in kinds else (event,))


def _with(event: Event, **fields: Any) -> Event:
    return Event(event.type, {**event.data, **fields}, event.choice)


def _beside(event: Event, kind: str, /, **data: Any) -> Event:
    return Event(kind, data, event.choice)


def start_per_chunk() -> EventEdit:
    block = _MADE_UP

    def edit(event: Event) -> Iterator[Event]:
        nonlocal block
        if event.type == "thinking.delta":
            block += 1
            channel = event.data["channel"]
            yield _beside(event, "thinking.start", block=block, channel=channel, explicit=False)
            yield _with(event, block=block)
            yield _beside(event, "thinking.end", block=block, explicit=False)
        elif event.type not in ("thinking.start", "thinking.end"):
            yield event

    return edit


@_each
def thinking_start_twice(event: Event) -> Iterator[Event]:
    yield event
    if event.type == "thinking.start":
        yield event


def drop_on_boundary_chunk() -> EventEdit:
    """The first delta of text after thinking is lost: it came in the chunk that ended it."""
    after_thinking = False

    def edit(event: Event) -> Iterator[Event]:
        nonlocal after_thinking
        if event.type == "text.delta" and after_thinking:
            after_thinking = False
            return
        after_thinking = event.type == "thinking.delta" or (
            after_thinking and event.type != "text.delta"
        )
        yield event

    return edit


@_each
def text_start_on_role_chunk(event: Event) -> Iterator[Event]:
    yield event
    if event.type == "message.start":
        yield _beside(event, "text.start", block=_MADE_UP)


@_each
def message_start_per_chunk(event: Event) -> Iterator[Event]:
    if event.type == "thinking.delta":
        yield _beside(event, "message.start", role="assistant")
    yield event


@_each
def completed_on_cut(event: Event) -> Iterator[Event]:
    if event.type == "cut":
        yield _beside(event, "finish", reason="stop")
        yield _beside(event, "done", explicit=False)
    else:
        yield event


def marker_leak() -> EventEdit:
    """The close marker of the thinking shows in front of the text that follows it."""
    after_thinking = False

    def edit(event: Event) -> Iterator[Event]:
        nonlocal after_thinking
        after_thinking = after_thinking or event.type == "thinking.delta"
        if event.type == "text.delta" and after_thinking:
            after_thinking = False
            event = _with(event, text="</think>" + event.data["text"])
        yield event

    return edit


@_each
def summary_parts_merged(event: Event) -> Iterator[Event]:
    if event.type == "thinking.delta" and event.data.get("part"):
        event = _with(event, part=0)
    if event.type != "thinking.part" or event.data["part"] == 0:
        yield event


@_each
def opaque_shown(event: Event) -> Iterator[Event]:
    yield event
    if event.type == "thinking.opaque":
        yield _beside(event, "text.start", block=_MADE_UP)
        yield _beside(event, "text.delta", block=_MADE_UP, text=event.data["data"])
        yield _beside(event, "text.end", block=_MADE_UP)


def start_on_opaque_only() -> EventEdit:
    block = _MADE_UP

    def edit(event: Event) -> Iterator[Event]:
        nonlocal block
        if event.type == "thinking.opaque":
            block += 1
            start = {"block": block, "channel": "raw", "explicit": False}
            yield _beside(event, "thinking.start", **start)
            yield event
            yield _beside(event, "thinking.end", block=block, explicit=False)
        else:
            yield event

    return edit


def thinking_after_text_reopened_same_block() -> EventEdit:
    """Thinking that comes later is added to the first block, which has ended."""
    first: dict[int, int] = {}

    def edit(event: Event) -> Iterator[Event]:
        if event.type == "thinking.start" and event.choice not in first:
            first[event.choice] = event.data["block"]
        elif event.type == "thinking.start":
            return
        if event.type in ("thinking.delta", "thinking.part", "thinking.end"):
            event = _with(event, block=first[event.choice])
        yield event

    return edit


@_each
def empty_delta_told(event: Event) -> Iterator[Event]:
    if event.type == "thinking.delta":
        yield _with(event, text="")
    yield event


@_each
def thinking_summed(event: Event) -> Iterator[Event]:
    if event.type == "thinking.delta":
        event = _with(event, text=event.data["text"] * 2)
    yield event


@_each
def length_as_stop(event: Event) -> Iterator[Event]:
    if event.type == "finish" and event.data["reason"] == "length":
        event = _with(event, reason="stop")
    yield event


_AS_TEXT: Final[Mapping[str, str]] = {
    "thinking.start": "text.start",
    "thinking.delta": "text.delta",
    "thinking.end": "text.end",
}


@_each
def thinking_as_text(event: Event) -> Iterator[Event]:
    """All thinking is reported as text of a block of its own."""
    kind = _AS_TEXT.get(event.type)
    if kind == "text.delta":
        yield _beside(event, kind, block=event.data["block"], text=event.data["text"])
    elif kind:
        yield _beside(event, kind, block=event.data["block"])
    elif event.type != "thinking.part":
        yield event


def unicode_split(chunk: bytes) -> bytes:
    return chunk.decode("utf-8", "replace").encode()
