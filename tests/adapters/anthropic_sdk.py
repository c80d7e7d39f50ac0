"""anthropic Python SDK, `messages.stream()`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from anthropic import Anthropic, DefaultHttpxClient

from tests.adapters.harness import Event, serve, spoken, thinking

HTTP = DefaultHttpxClient()
EVENTS = ("thinking.delta", "thinking.opaque", "text.delta", "tool.end", "finish")
REASONS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}
REASONS |= {"tool_use": "tool_calls", "refusal": "content_filter"}


def stream(command: Mapping[str, Any]) -> Iterator[Event]:
    """One case."""
    sdk = Anthropic(
        base_url=command["base_url"].removesuffix("/v1"),
        api_key="none",
        max_retries=0,
        timeout=command["deadline_ms"] / 1000,
        http_client=HTTP,
    )
    messages = [each for each in command["messages"] if each["role"] != "system"]
    arguments = {"model": command["model"], "messages": messages, "max_tokens": 1024}
    with sdk.messages.stream(**arguments) as events:
        for event in events:
            yield from events_of(event)


def events_of(event: Any) -> Iterator[Event]:
    """What one event of the helper says."""
    match event.type:
        case "thinking":
            yield from thinking(event.thinking)
        case "signature":
            yield {"type": "thinking.opaque", "kind": "signature", "data": event.signature}
        case "text":
            yield from spoken(event.text)
        case "content_block_start" if event.content_block.type == "redacted_thinking":
            data = event.content_block.data
            yield {"type": "thinking.opaque", "kind": "redacted", "data": data}
        case "content_block_stop" if event.content_block.type == "tool_use":
            block = event.content_block
            arguments = json.dumps(block.input, separators=(",", ":"))
            yield {"type": "tool.end", "name": block.name, "arguments": arguments}
        case "message_delta" if event.delta.stop_reason:
            reason = event.delta.stop_reason
            yield {"type": "finish", "reason": REASONS.get(reason, reason)}


if __name__ == "__main__":
    serve(
        stream,
        package="anthropic",
        name="anthropic-python",
        dialects=("anthropic.messages",),
        events=EVENTS,
    )
