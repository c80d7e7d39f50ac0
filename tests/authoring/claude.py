"""Lines of Claude Code, one by one; `run` adds the session and the result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, count
from typing import Any, Final

from tests.authoring.draft import output_draft
from tests.authoring.messages import MODEL, Usage, answer, counted, message
from tests.authoring.pieces import Fields, Line

SESSION: Final = "session-1"
FAILURE: Final = "API Error: 500 The model is overloaded."
DIALECT: Final = "claude.stream-json"
MOSS: Final = "Moss has no roots, so it drinks through its leaves, and cares little for the soil."
MOSS_TEXT: Final = "Through its leaves."
USAGE: Final = (12, 40, 24)
drafted = partial(output_draft, dialect=DIALECT)


def line(kind: str, **fields: Any) -> Fields:
    return {"type": kind, **fields, "session_id": SESSION}


def stated(message_id: str, block: Fields) -> Fields:
    """The line that states one block of a message."""
    whole = message(id=message_id, content=[block], usage=counted((9, 1, None)))
    return line("assistant", message=whole, parent_tool_use_id=None)


def events(
    message_id: str, blocks: Iterable[list[Fields]], usage: Usage, reason: str = "end_turn"
) -> Iterator[Fields]:
    """A message event by event; the line that states a block comes before the block stops."""
    sent = [each.payload for each in answer(blocks, usage, reason, pings=False)]
    block: Fields = {}
    for event in sent:
        if event["type"] == "message_start":
            event["message"]["id"] = message_id
        elif event["type"] == "content_block_start":
            block = dict(event["content_block"])
        elif event["type"] == "content_block_delta":
            grow(block, event["delta"])
        elif event["type"] == "content_block_stop":
            yield stated(message_id, whole(block))
        yield line("stream_event", event=event, parent_tool_use_id=None, api_message_id=message_id)


def lines(message_id: str, blocks: Iterable[list[Fields]]) -> Iterator[Fields]:
    """A message without its events."""
    streamed = events(message_id, blocks, (9, 9, None))
    return (each for each in streamed if each["type"] == "assistant")


def returned(call_id: str, result: str) -> Fields:
    """What a tool gave."""
    given = {"type": "tool_result", "tool_use_id": call_id, "content": result}
    return line("user", message={"role": "user", "content": [given]}, parent_tool_use_id=None)


def failed() -> Fields:
    """An error of the API, worded as an answer."""
    failure = message(
        id="failure-1", model="<synthetic>", content=[{"type": "text", "text": FAILURE}]
    )
    error = {"error": "server_error", "is_api_error_message": True}
    return line("assistant", message=failure, parent_tool_use_id=None, **error)


def run(
    *parts: Iterable[Fields], said: str, usage: Usage, is_error: bool = False, ended_as: str = ""
) -> list[Line]:
    """A whole run; every line has an id of its own. Later versions say as what it ended."""
    begun = [line("system", subtype="init", model=MODEL, tools=[])]
    times = {"duration_ms": 120, "duration_api_ms": 96, "num_turns": 1}
    cost = {"total_cost_usd": 0.0, "usage": counted(usage)}
    ended = {"subtype": "success", "is_error": is_error, **times, **cost}
    reason = "stop_sequence" if is_error else "end_turn"
    more = {"terminal_reason": ended_as} if ended_as else {}
    over = [line("result", **ended, result=said, stop_reason=reason, **more)]
    return numbered(begun, *parts, over)


def numbered(*parts: Iterable[Fields]) -> list[Line]:
    """Lines, each with an id of its own."""
    each_line = zip(count(1), chain(*parts), strict=False)
    return [Line({**each, "uuid": f"line-{number}"}) for number, each in each_line]


def grow(block: Fields, delta: Fields) -> None:
    for name, piece in delta.items():
        if name != "type":
            block[name] = f"{block.get(name, '')}{piece}"


def whole(block: Fields) -> Fields:
    written = block.pop("partial_json", "")
    return {**block, "input": json.loads(written)} if written else block


def counter(tokens: int) -> Fields:
    """How much was thought so far, as it is estimated."""
    return line("system", subtype="thinking_tokens", estimated_tokens=tokens)


def lines_last(events_of_run: Iterable[Fields]) -> Iterator[Fields]:
    """The lines that state blocks, one message later than Claude Code writes them."""
    streamed = [*events_of_run]
    stated = [each for each in streamed if each["type"] == "assistant"]
    whole = [{**stated[0], "message": {**stated[0]["message"], "content": _blocks(stated)}}]
    return chain((each for each in streamed if each["type"] != "assistant"), whole)


def _blocks(stated: list[Fields]) -> list[Fields]:
    return [block for each in stated for block in each["message"]["content"]]
