"""Typed events of the openai SDK's Responses streams, as its users read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tests.adapters.harness import Event, Failed, spoken, thinking

REASONS = {"max_output_tokens": "length"}


def reported_events(events: Iterable[Any]) -> Iterator[Event]:
    """What a user of the SDK hears. Raises Failed where the response failed."""
    has_calls = is_over = False
    for event in events:
        for heard in _one(event):
            has_calls = has_calls or heard["type"] == "tool.end"
            yield heard
        if event.type in ("response.completed", "response.incomplete"):
            is_over = True
            yield from _finish(event, has_calls=has_calls)
    if not is_over:
        raise Failed("the stream ended before the response was completed")


def _one(event: Any) -> Iterator[Event]:
    match event.type:
        case "response.reasoning_text.delta":
            yield from thinking(event.delta)
        case "response.reasoning_summary_text.delta":
            yield from thinking(event.delta, "summary")
        case "response.output_text.delta":
            yield from spoken(event.delta)
        case "response.refusal.delta":
            yield {"type": "refusal.delta", "text": event.delta}
        case "response.output_item.done" if event.item.type == "function_call":
            item = event.item
            yield {"type": "tool.end", "name": item.name, "arguments": item.arguments}
        case "response.failed" | "error":
            raise Failed(str(event)[:200])


def _finish(event: Any, *, has_calls: bool) -> Iterator[Event]:
    reason = "tool_calls" if has_calls else "stop"
    if event.type == "response.incomplete":
        details = event.response.incomplete_details
        cause = details.reason if details else ""
        reason = REASONS.get(cause, cause)
    yield {"type": "finish", "reason": reason}


def asked(command: Any) -> dict[str, Any]:
    """The arguments of a call: `messages` hold entries of any API, the SDK wants `input`."""
    entries = [_entry(each) for each in command["messages"]]
    return {"model": command["model"], "input": entries}


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    return {"role": "developer", **entry} if entry.get("role") == "system" else entry
