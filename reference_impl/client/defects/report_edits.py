"""Defects in what a client reports of a stream: rows of events, and the functions of their names.

A row says what comes in the place of an event of a type: `same` is the event itself, a table is
another one of its `type`, or without a type the event with these fields. `{field}` stands for what
the event has there, and `{new}` for the number of a block that the defect makes up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final

from ..event import Event
from .defect import EventEdit

Template = str | Mapping[str, Any]
_SAME: Final = "same"
# Blocks that a defect makes up are numbered from here.
_MADE_UP: Final = 1000


def edited(
    rows: Mapping[str, Sequence[Template]], where: Mapping[str, Any]
) -> Callable[[], EventEdit]:
    """By type what comes in the place of an event; of all its fields those of `where` must fit."""

    def door() -> EventEdit:
        blocks = count(_MADE_UP + 1)

        def edit(event: Event) -> Iterable[Event]:
            templates = rows.get(event.type)
            if templates is None or any(event.data.get(key) != where[key] for key in where):
                return (event,)
            return _made_events(event, templates, next(blocks)) if templates else ()

        return edit

    return door


def first_after_thinking(templates: Sequence[Template]) -> Callable[[], EventEdit]:
    """Return the edit that replaces the first delta of text after thinking."""

    def door() -> EventEdit:
        after_thinking = False

        def edit(event: Event) -> Iterable[Event]:
            nonlocal after_thinking
            after_thinking = after_thinking or event.type == "thinking.delta"
            if event.type != "text.delta" or not after_thinking:
                return (event,)
            after_thinking = False
            return _made_events(event, templates, _MADE_UP)

        return edit

    return door


def _made_events(event: Event, templates: Sequence[Template], new: int) -> list[Event]:
    known = {**event.data, "new": new}
    return [event if each == _SAME else _made_event(event, each, known) for each in templates]


def _made_event(event: Event, template: Any, known: Mapping[str, Any]) -> Event:
    fields = {name: _filled_value(value, known) for name, value in template.items()}
    if kind := fields.pop("type", ""):
        return Event(kind, fields, event.choice)
    return Event(event.type, {**event.data, **fields}, event.choice)


def _filled_value(value: Any, known: Mapping[str, Any]) -> Any:
    if not isinstance(value, str):
        return value
    name = value[1:-1]
    return known[name] if value == f"{{{name}}}" and name in known else value.format_map(known)


def summary_parts_merged() -> EventEdit:
    def edit(event: Event) -> Iterator[Event]:
        if event.type == "thinking.delta" and event.data.get("part"):
            event = Event(event.type, {**event.data, "part": 0}, event.choice)
        if event.type != "thinking.part" or event.data["part"] == 0:
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
            event = Event(event.type, {**event.data, "block": first[event.choice]}, event.choice)
        yield event

    return edit


def unicode_split(chunk: bytes) -> bytes:
    return chunk.decode("utf-8", "replace").encode()
