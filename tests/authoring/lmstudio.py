"""Streams and bodies of LM Studio's chat that keep the rules, made of its events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from tests.authoring.pieces import Fields, Message, characters, deltas

MODEL: Final = "think-1"
FIRST_ID: Final = "resp_synthetic0001"
PORT: Final[Fields] = {"type": "ephemeral_mcp", "server_label": "harbour"}


def answer(
    said: Sequence[Any], usage: tuple[int, int, int], *, apart: bool = False, named: str = FIRST_ID
) -> tuple[Message, ...]:
    """A whole stream: texts with their kind, and calls as a result lists them."""
    events: list[Fields] = [
        {"type": "chat.start", "model_instance_id": MODEL},
        {"type": "prompt_processing.start"},
        {"type": "prompt_processing.progress", "progress": 0.5},
        {"type": "prompt_processing.end"},
    ]
    for each in said:
        events += (
            _block(*each) if isinstance(each, list | tuple) else _call_events(each, apart=apart)
        )
    events.append({"type": "chat.end", "result": result(said, usage, named=named)})
    return tuple(map(event, events))


def event(fields: Fields) -> Message:
    """An event with the line that its type asks for."""
    return Message(fields, str(fields["type"]))


def call(tool: str, arguments: Fields, output: str) -> Fields:
    named = {"type": "tool_call", "tool": tool, "arguments": arguments}
    return {**named, "output": output, "provider_info": PORT}


def result(said: Sequence[Any], usage: tuple[int, int, int], *, named: str = FIRST_ID) -> Fields:
    items = [
        dict(zip(("type", "content"), e, strict=True)) if isinstance(e, list | tuple) else e
        for e in said
    ]
    counted = ("input_tokens", "total_output_tokens", "reasoning_output_tokens")
    stats = {**dict(zip(counted, usage, strict=True)), "tokens_per_second": 43.5}
    whole = {"model_instance_id": MODEL, "output": items, "stats": stats}
    return {**whole, "response_id": named} if named else whole


def _block(kind: str, text: str) -> Iterator[Fields]:
    yield {"type": f"{kind}.start"}
    for piece in deltas(text) if " " in text else characters(text):
        yield {"type": f"{kind}.delta", "content": piece}
    yield {"type": f"{kind}.end"}


def _call_events(item: Fields, *, apart: bool) -> Iterable[Fields]:
    if item["type"] == "invalid_tool_call":
        return [{**item, "type": "tool_call.failure"}]
    named = {"tool": item["tool"], "provider_info": PORT}
    about = {"tool_name": item["tool"], "provider_info": PORT}
    begun = [{"type": "tool_call.start"}, {"type": "tool_call.name", **about}] if apart else []
    return [
        *(begun or [{"type": "tool_call.start", **named}]),
        {"type": "tool_call.arguments", **named, "arguments": item["arguments"]},
        {**item, "type": "tool_call.success"},
    ]
