"""LangChain's chat models, `.stream()`: ChatOpenAI in both APIs, and ChatAnthropic."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

from tests.adapters.harness import Calls, Event, serve, spoken, thinking

EVENTS = ("thinking.delta", "text.delta", "tool.end")
DIALECTS: Final = ("openai.chat", "openai.responses", "anthropic.messages")


def model(command: Mapping[str, Any]) -> Any:
    """The chat model of an API, without retries."""
    seconds = command["deadline_ms"] / 1000
    if command["dialect"] == "anthropic.messages":
        return ChatAnthropic(
            model_name=command["model"],
            base_url=command["base_url"].removesuffix("/v1"),
            api_key="none",
            max_retries=0,
            timeout=seconds,
            stop=None,
        )
    return ChatOpenAI(
        model=command["model"],
        base_url=command["base_url"],
        api_key="none",
        max_retries=0,
        timeout=seconds,
        use_responses_api=command["dialect"] == "openai.responses",
    )


def stream(command: Mapping[str, Any]) -> Iterator[Event]:
    """One case: content blocks as they come; no chunk says where a call ends."""
    calls = Calls()
    places: dict[Any, int] = {}
    for chunk in model(command).stream([HumanMessage(question(command["messages"]))]):
        for block in chunk.content_blocks:
            match block["type"]:
                case "reasoning":
                    yield from thinking(block.get("reasoning"), channel(command))
                case "text":
                    yield from spoken(block["text"])
                case "tool_call_chunk":
                    # A number, or a word of its own for each call.
                    place = places.setdefault(block.get("index"), len(places))
                    calls.add(0, place, block.get("name"), block.get("args"))
                case "tool_call":
                    arguments = json.dumps(block["args"], separators=(",", ":"))
                    yield {"type": "tool.end", "name": block["name"], "arguments": arguments}
    yield from calls.ended(0)


def channel(command: Mapping[str, Any]) -> str:
    """One channel: a block does not say which it was."""
    return "summary" if command["dialect"] == "openai.responses" else "raw"


def question(messages: list[dict[str, Any]]) -> str:
    """The last thing that the user said, in words."""
    texts = [each.get("content") for each in messages if each.get("role") == "user"]
    return next((text for text in reversed(texts) if isinstance(text, str) and text), "Go on.")


if __name__ == "__main__":
    serve(
        stream,
        package="langchain-core",
        name="langchain-chat",
        dialects=DIALECTS,
        events=EVENTS,
        features=("calls-at-end",),
    )
