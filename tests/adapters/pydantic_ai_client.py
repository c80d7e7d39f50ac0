"""pydantic-ai: the events of a model request, for Chat Completions and Responses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from openai import AsyncOpenAI
from pydantic_ai.direct import model_request_stream  # type: ignore[import-not-found,unused-ignore]
from pydantic_ai.messages import ModelRequest  # type: ignore[import-not-found,unused-ignore]
from pydantic_ai.models.openai import (  # type: ignore[import-not-found,unused-ignore]
    OpenAIChatModel,
    OpenAIResponsesModel,
)
from pydantic_ai.providers.openai import OpenAIProvider  # type: ignore[import-not-found,unused-ignore]

from tests.adapters.harness import Event, serve, spoken, thinking

EVENTS = ("thinking.delta", "text.delta", "tool.end")


def model(command: Mapping[str, Any]) -> Any:
    """The model class of the dialect."""
    name, base = command["model"], command["base_url"]
    seconds = command["deadline_ms"] / 1000
    client = AsyncOpenAI(base_url=base, api_key="none", max_retries=0, timeout=seconds)
    kind = OpenAIChatModel if command["dialect"] == "openai.chat" else OpenAIResponsesModel
    return kind(name, provider=OpenAIProvider(openai_client=client))


def stream(command: Mapping[str, Any]) -> Iterator[Event]:
    """One case, each event as it comes."""
    loop = asyncio.new_event_loop()
    events = asked(command)
    try:
        while True:
            try:
                yield loop.run_until_complete(anext(events))
            except StopAsyncIteration:
                return
    finally:
        loop.run_until_complete(events.aclose())  # type: ignore[attr-defined]
        loop.close()


async def asked(command: Mapping[str, Any]) -> AsyncIterator[Event]:
    """Asks with the last words of the user: the history is not what is tested here."""
    words = [each.get("content") for each in command["messages"] if each.get("role") == "user"]
    prompt = next((each for each in reversed(words) if isinstance(each, str)), "Hello?")
    channel = "summary" if command["dialect"] == "openai.responses" else "raw"
    request = ModelRequest.user_text_prompt(prompt)
    async with model_request_stream(model(command), [request]) as response:
        async for event in response:
            for reported in events_of(event, channel):
                yield reported


def events_of(event: Any, channel: str) -> Iterator[Event]:
    """What one event says; of Responses it knows summaries only."""
    if event.event_kind == "part_start":
        part = event.part
        text = getattr(part, "content", "")
        kind = part.part_kind
    elif event.event_kind == "part_delta":
        text = getattr(event.delta, "content_delta", "")
        kind = event.delta.part_delta_kind
    elif event.event_kind == "part_end" and event.part.part_kind == "tool-call":
        name, arguments = event.part.tool_name, event.part.args_as_json_str()
        yield {"type": "tool.end", "name": name, "arguments": arguments}
        return
    else:
        return
    if kind == "thinking":
        yield from thinking(text, channel)
    elif kind == "text":
        yield from spoken(text)


if __name__ == "__main__":
    serve(
        stream,
        package="pydantic-ai-slim",
        name="pydantic-ai",
        dialects=("openai.chat", "openai.responses"),
        events=EVENTS,
    )
