"""openai Python SDK, `.stream()`: the helper with events of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.adapters import openai_responses
from tests.adapters.harness import Event, serve, spoken
from tests.adapters.openai_raw import client

# The helper knows no event for thinking; what it does not tell is lost.
EVENTS = ("thinking.delta", "text.delta", "refusal.delta", "tool.end")


def stream(command: Mapping[str, Any]) -> Iterator[Event]:
    """One case."""
    sdk = client(command)
    if command["dialect"] == "openai.responses":
        with sdk.responses.stream(**openai_responses.asked(command)) as events:
            reported = openai_responses.reported_events(events)
            yield from (event for event in reported if event["type"] in EVENTS)
        return
    with sdk.chat.completions.stream(
        model=command["model"], messages=command["messages"]
    ) as events:
        for event in events:
            yield from events_of(event)


def events_of(event: Any) -> Iterator[Event]:
    """What one event of the helper says."""
    match event.type:
        case "content.delta":
            yield from spoken(event.delta)
        case "refusal.delta":
            yield {"type": "refusal.delta", "text": event.delta}
        case "tool_calls.function.arguments.done":
            yield {"type": "tool.end", "name": event.name, "arguments": event.arguments}


if __name__ == "__main__":
    serve(
        stream,
        package="openai",
        name="openai-python-helper",
        dialects=("openai.chat", "openai.responses"),
        events=EVENTS,
    )
