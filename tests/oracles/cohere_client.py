"""cohere-python: the events of `chat_stream`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import cohere

from tests.adapters.harness import Event, spoken, thinking
from tests.oracles.fake_server import FakeServer

_ASK: Final[list[Any]] = [{"role": "user", "content": "Hi."}]
_SERVER: Final = FakeServer()


def _is_short(record: logging.LogRecord) -> bool:
    """The client warns of every event that it leaves out, in thousands of characters."""
    return not str(record.msg).startswith("Skipping SSE event")


logging.getLogger().addFilter(_is_short)


@cache
def _client() -> cohere.ClientV2:
    return cohere.ClientV2(
        api_key="none", base_url="http://fake", httpx_client=_SERVER.connection()
    )


def read_chat(body: bytes) -> Iterator[Event]:
    _SERVER.body = body
    calls: list[Event] = []
    for event in _client().v2.chat_stream(model="m", messages=_ASK):
        yield from read_event(event, calls)


def read_event(event: Any, calls: list[Event]) -> Iterator[Event]:
    """What one event says; one call is over before the next one starts."""
    match event.type:
        case "content-start" | "content-delta":
            content = event.delta.message.content
            yield from thinking(content.thinking)
            yield from spoken(content.text)
        case "tool-plan-delta":
            yield from thinking(event.delta.message.tool_plan)
        case "tool-call-start":
            function = event.delta.message.tool_calls.function
            named = {"name": function.name, "arguments": function.arguments or ""}
            calls.append({"type": "tool.end", **named})
        case "tool-call-delta":
            calls[-1]["arguments"] += event.delta.message.tool_calls.function.arguments
        case "message-end":
            yield from calls
            yield {"type": "finish", "reason": event.delta.finish_reason}
