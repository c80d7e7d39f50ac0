"""What a chat template is given, as each of three APIs asks for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reference_impl.client.wire import Api

Fields = dict[str, Any]
_BUDGET = 1024
_LIMIT = 2048


@dataclass(frozen=True, slots=True)
class Asked:
    """Turns and tools as chat templates know them, whether to think, and what bounds the answer."""

    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    thinks: bool = True
    limit: int | None = None
    temperature: float = 0.0
    stops: tuple[str, ...] = ()


def asked_body(api: Api, asked: Asked, *, streams: bool) -> Fields:
    """The body of a request."""
    build = {"chat": _chat, "responses": _responses, "messages": _messages}[api]
    body = {"model": "scripted", "stream": streams, **build(asked, streams)}
    if not asked.thinks:  # models that think take no temperature
        body["temperature"] = asked.temperature
    if asked.stops and api != "responses":
        body["stop" if api == "chat" else "stop_sequences"] = list(asked.stops)
    return body


def _chat(asked: Asked, streams: bool) -> Fields:
    body: Fields = {
        "messages": [_chat_turn(each) for each in asked.messages],
        "reasoning_effort": "low" if asked.thinks else "none",
    }
    if asked.limit is not None:
        body["max_completion_tokens"] = asked.limit
    if asked.tools:
        body["tools"] = list(asked.tools)
    if streams:
        body["stream_options"] = {"include_usage": True}
    return body


def _chat_turn(turn: Mapping[str, Any]) -> Fields:
    calls = [_with_text(each) for each in turn.get("tool_calls", ())]
    kept = {name: value for name, value in turn.items() if name != "reasoning_content"}
    return {**kept, "tool_calls": calls} if calls else kept


def _with_text(call: Mapping[str, Any]) -> Fields:
    function = {**call["function"], "arguments": json.dumps(call["function"]["arguments"])}
    return {**call, "function": function}


def _responses(asked: Asked, streams: bool) -> Fields:
    del streams
    body: Fields = {
        "input": [item for turn in asked.messages for item in _items(turn)],
        "reasoning": {"effort": "low" if asked.thinks else "none"},
    }
    if asked.limit is not None:
        body["max_output_tokens"] = asked.limit
    if asked.tools:
        body["tools"] = [{"type": "function", **each["function"]} for each in asked.tools]
    return body


def _items(turn: Mapping[str, Any]) -> list[Fields]:
    if turn["role"] == "tool":
        result = {"call_id": turn["tool_call_id"], "output": turn["content"]}
        return [{"type": "function_call_output", **result}]
    messages = [{"role": turn["role"], "content": turn["content"]}] if turn["content"] else []
    calls = [
        {"type": "function_call", "call_id": each["id"], **_with_text(each)["function"]}
        for each in turn.get("tool_calls", ())
    ]
    return [*messages, *calls]


def _messages(asked: Asked, streams: bool) -> Fields:
    del streams
    system = [each["content"] for each in asked.messages if each["role"] == "system"]
    body: Fields = {
        "messages": [_blocks(each) for each in asked.messages if each["role"] != "system"],
        # The API demands a limit, and one above the budget.
        "max_tokens": (asked.limit or _LIMIT) + (_BUDGET if asked.thinks else 0),
    }
    if asked.thinks:
        body["thinking"] = {"type": "enabled", "budget_tokens": _BUDGET}
    if system:
        body["system"] = "\n".join(system)
    if asked.tools:
        body["tools"] = [_anthropic_tool(each["function"]) for each in asked.tools]
    return body


def _anthropic_tool(function: Mapping[str, Any]) -> Fields:
    kept = {name: function[name] for name in ("name", "description") if name in function}
    return {**kept, "input_schema": function["parameters"]}


def _blocks(turn: Mapping[str, Any]) -> Fields:
    if turn["role"] == "tool":
        result = {"tool_use_id": turn["tool_call_id"], "content": turn["content"]}
        return {"role": "user", "content": [{"type": "tool_result", **result}]}
    calls: Sequence[Mapping[str, Any]] = turn.get("tool_calls", ())
    if not calls:
        return {"role": turn["role"], "content": turn["content"]}
    uses = [
        {
            "type": "tool_use",
            "id": each["id"],
            "name": each["function"]["name"],
            "input": each["function"]["arguments"],
        }
        for each in calls
    ]
    content = [{"type": "text", "text": turn["content"]}] if turn["content"] else []
    return {"role": turn["role"], "content": [*content, *uses]}
