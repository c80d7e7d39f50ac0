"""openai-agents: the events of its two models, which a run passes on as raw responses.

Chat Completions are told as events of Responses, so thinking has one channel there.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextvars import copy_context
from typing import Any

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"  # traces go to OpenAI otherwise

from agents import ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel
from agents.models.interface import ModelTracing
from openai import AsyncOpenAI

from tests.adapters import openai_responses
from tests.adapters.harness import Event, question, serve

EVENTS = ("thinking.delta", "text.delta", "refusal.delta", "tool.end")


def stream(command: Mapping[str, Any]) -> Iterator[Event]:
    """One case, each event as it comes."""
    loop = asyncio.new_event_loop()
    context = copy_context()  # one for all events: a span begins in the first and ends in the last
    events = asked(command)

    async def next_event() -> Any:
        return await anext(events, None)

    def events_of() -> Iterator[Any]:
        while event := loop.run_until_complete(loop.create_task(next_event(), context=context)):
            yield event

    try:
        for event in openai_responses.reported_events(events_of()):
            if event["type"] == "thinking.delta" and command["dialect"] == "openai.chat":
                yield event | {"channel": "raw"}
            elif event["type"] != "finish":  # a run has no reason for its end
                yield event
    finally:
        closed = events.aclose()  # type: ignore[attr-defined]
        loop.run_until_complete(loop.create_task(closed, context=context))
        loop.close()


async def asked(command: Mapping[str, Any]) -> AsyncIterator[Any]:
    """The events of one answer, without retries and without tracing."""
    seconds = command["deadline_ms"] / 1000
    base = command["base_url"]
    is_chat = command["dialect"] == "openai.chat"
    kind = OpenAIChatCompletionsModel if is_chat else OpenAIResponsesModel
    async with AsyncOpenAI(base_url=base, api_key="none", max_retries=0, timeout=seconds) as http:
        async for event in kind(command["model"], http).stream_response(
            None, question(command), ModelSettings(), [], None, [], ModelTracing.DISABLED,
            previous_response_id=None, conversation_id=None, prompt=None,
        ):  # fmt: skip
            yield event


if __name__ == "__main__":
    serve(
        stream,
        package="openai-agents",
        name="openai-agents",
        dialects=("openai.chat", "openai.responses"),
        events=EVENTS,
    )
