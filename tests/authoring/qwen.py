"""Runs of Qwen Code: the lines of Claude Code, with each block as a message of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tests.authoring.claude import grow, line, numbered, whole
from tests.authoring.messages import MODEL, counted, thinking
from tests.authoring.pieces import Fields, Line


def plain_thinking(said: str) -> list[Fields]:
    """A block of thinking that nobody signs."""
    first, *others = thinking(0, said, signed=False)
    return [{**first, "content_block": {**first["content_block"], "signature": ""}}, *others]


def called(name: str, *blocks: list[Fields]) -> Iterator[Fields]:
    """One call of the model: its blocks as events, each with the line that states it behind."""
    opening = {"id": f"{name}-0", "role": "assistant", "model": MODEL, "content": []}
    yield _event({"type": "message_start", "message": opening})
    for number, block in enumerate(blocks):
        yield from map(_event, block)
        message: dict[str, Any] = {"id": f"{name}-{number}", "type": "message"}
        message |= {"role": "assistant", "model": MODEL, "content": [_stated(block)]}
        message |= {"stop_reason": None, "usage": counted((12, 40, None))}
        yield line("assistant", message=message, parent_tool_use_id=None)
    yield _event({"type": "message_stop"})


def run(*parts: Iterable[Fields], said: str) -> list[Line]:
    """A whole run; every line has an id of its own."""
    begun = [line("system", subtype="init", model=MODEL, tools=[], qwen_code_version="0.15.10")]
    times = {"duration_ms": 120, "duration_api_ms": 96, "num_turns": 1}
    ended = {"is_error": False, **times, "result": said, "usage": counted((12, 40, None))}
    over = [line("result", subtype="success", **ended)]
    return numbered(begun, *parts, over)


def _event(event: Fields) -> Fields:
    return line("stream_event", event=event, parent_tool_use_id=None)


def _stated(events: list[Fields]) -> Fields:
    """What the events of a block amount to."""
    first, *deltas, _ = events
    block = dict(first["content_block"])
    for each in deltas:
        grow(block, each["delta"])
    return whole(block)
