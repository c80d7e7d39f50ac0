"""The reader that people paste from the web: `iter_lines()` and `startswith("data: ")`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from tests.adapters.harness import Calls, Event, serve, spoken, thinking

EVENTS = ("thinking.delta", "text.delta", "tool.end", "finish")


def stream(command: Mapping[str, Any]) -> Iterator[Event]:
    """One case."""
    body = {"model": command["model"], "messages": command["messages"], "stream": True}
    url = command["base_url"] + "/chat/completions"
    calls = Calls()
    with httpx.stream("POST", url, json=body, timeout=command["deadline_ms"] / 1000) as response:
        response.raise_for_status()
        for line in response.iter_lines():
            if not line.startswith("data: "):
                continue
            data = line[len("data: ") :]
            if data == "[DONE]":
                break
            for choice in json.loads(data)["choices"]:
                yield from events_of(choice, calls)


def events_of(choice: Mapping[str, Any], calls: Calls) -> Iterator[Event]:
    """What one choice of a chunk says."""
    delta, index = choice["delta"], choice["index"]
    yield from thinking(delta.get("reasoning_content"), choice=index)
    yield from spoken(delta.get("content"), index)
    for call in delta.get("tool_calls") or ():
        function = call["function"]
        calls.add(index, call["index"], function.get("name"), function.get("arguments"))
    if choice["finish_reason"]:
        yield from calls.ended(index)
        yield {"type": "finish", "reason": choice["finish_reason"], "choice": index}


if __name__ == "__main__":
    serve(
        stream, package="httpx", name="pasted-iter-lines", dialects=("openai.chat",), events=EVENTS
    )
