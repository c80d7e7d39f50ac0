"""openai Python SDK, `stream=True`: thinking is read from the extra fields of a delta."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from openai import DefaultHttpxClient, OpenAI

from tests.adapters import openai_responses
from tests.adapters.harness import Calls, Event, serve, spoken, thinking

HTTP = DefaultHttpxClient()
EVENTS = ("thinking.delta", "text.delta", "refusal.delta", "tool.end", "finish")


def client(command: Mapping[str, Any]) -> OpenAI:
    """The SDK without retries: a case is asked once."""
    return OpenAI(
        base_url=command["base_url"],
        api_key="none",
        max_retries=0,
        timeout=command["deadline_ms"] / 1000,
        http_client=HTTP,
    )


def stream(command: Mapping[str, Any]) -> Iterator[Event]:
    """One case."""
    if command["dialect"] == "openai.responses":
        arguments = openai_responses.asked(command)
        yield from openai_responses.reported_events(
            client(command).responses.create(**arguments, stream=True)
        )
        return
    chunks = client(command).chat.completions.create(
        model=command["model"], messages=command["messages"], stream=True
    )
    calls = Calls()
    for chunk in chunks:
        for choice in chunk.choices or ():
            yield from events_of(choice, calls)


def events_of(choice: Any, calls: Calls) -> Iterator[Event]:
    """What one choice of a chunk says."""
    delta, index = choice.delta, choice.index or 0
    if delta is not None:
        extra = delta.model_extra or {}
        yield from thinking(extra.get("reasoning_content") or extra.get("reasoning"), choice=index)
        yield from spoken(delta.content, index)
        if delta.refusal:
            yield {"type": "refusal.delta", "text": delta.refusal, "choice": index}
        for call in delta.tool_calls or ():
            calls.add(index, call.index, call.function.name, call.function.arguments)
    if choice.finish_reason:
        yield from calls.ended(index)
        yield {"type": "finish", "reason": choice.finish_reason, "choice": index}


if __name__ == "__main__":
    serve(
        stream,
        package="openai",
        name="openai-python-raw",
        dialects=("openai.chat", "openai.responses"),
        events=EVENTS,
    )
