"""LiteLLM's Python SDK: `completion(stream=True)` of all three APIs, told as Chat Completions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it asks the internet otherwise

import litellm

from tests.adapters.harness import Calls, Event, serve, spoken, thinking

PREFIXES: Final = {
    "openai.chat": "openai/",
    "openai.responses": "openai/responses/",
    "anthropic.messages": "anthropic/",
}
EVENTS = ("thinking.delta", "text.delta", "tool.end", "finish")
litellm.suppress_debug_info = True
litellm.telemetry = False


def stream(command: Mapping[str, Any]) -> Iterator[Event]:
    """One case."""
    base = command["base_url"]
    dialect = command["dialect"]
    chunks = litellm.completion(
        model=PREFIXES[dialect] + command["model"],
        messages=[chat_entry(each) for each in command["messages"]],
        api_base=base.removesuffix("/v1") if dialect == "anthropic.messages" else base,
        api_key="none",
        stream=True,
        max_tokens=1024,
        max_retries=0,
        num_retries=0,
        timeout=command["deadline_ms"] / 1000,
    )
    calls = Calls()
    for chunk in chunks:
        for choice in chunk.choices[:1]:
            delta = choice.delta
            # One channel: the SDK does not say which it was.
            channel = "summary" if dialect == "openai.responses" else "raw"
            yield from thinking(getattr(delta, "reasoning_content", None), channel)
            yield from spoken(delta.content)
            for call in delta.tool_calls or ():
                calls.add(0, call.index, call.function.name, call.function.arguments)
            if choice.finish_reason:
                yield from calls.ended(0)
                yield {"type": "finish", "reason": choice.finish_reason}


def chat_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Entries of the history as Chat Completions has them; what it has not is said in short."""
    content = entry.get("content")
    role = entry.get("role")
    is_plain = isinstance(content, str) and role in ("user", "assistant", "system")
    return {"role": role, "content": content} if is_plain else {"role": "user", "content": "Go on."}


if __name__ == "__main__":
    serve(
        stream,
        package="litellm",
        name="litellm-sdk",
        dialects=tuple(PREFIXES),
        events=EVENTS,
        features=("calls-at-end",),
    )
