"""Requests of Chat Completions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from conformance.core.events import Event
from conformance.dialects.json_edge import elements
from conformance.dialects.requests import PLAIN, Continuation, Question, RequestForm, RequestStyle

_THINKING_FIELDS: Final = ("reasoning_content", "reasoning")
_STEADY: Final = {"temperature": 0, "seed": 0}
_NEW_LIMIT: Final = {"max_tokens": "max_completion_tokens"}


def _ask(question: Question) -> dict[str, Any]:
    schema = {"type": "object", "properties": {}}
    tools = [
        {"type": "function", "function": {"name": name, "parameters": schema}}
        for name in question.tools
    ]
    return {
        "messages": [{"role": "user", "content": question.text}],
        "max_tokens": question.limit,
        **({"stream_options": {"include_usage": True}} if question.streams else {}),
        **({"reasoning_effort": "low"} if question.thinks else {}),
        **({"tools": tools} if tools else {}),
    }


def _next_turns(after: Continuation) -> list[Any]:
    answer: dict[str, Any] = {"role": "assistant", "content": after.text or None}
    if after.thinking and after.keeps_thinking:
        answer[_thinking_field(after.events)] = after.thinking
    calls = [each for each in after.tools if each.get("id")]
    if calls:
        answer["tool_calls"] = [
            {
                "id": each["id"],
                "type": "function",
                "function": {"name": each.get("name"), "arguments": each.get("arguments")},
            }
            for each in calls
        ]
    results = [
        {"role": "tool", "tool_call_id": each["id"], "content": after.result} for each in calls
    ]
    return [*elements(after.request.get("messages")), answer, *results, *after.user_turn]


def _thinking_field(events: Iterable[Event]) -> str:
    """The field in which thinking came, so that it goes back in the same one."""
    for event in events:
        delta = event.data.get("delta") if event.type == "chat.choice" else event.data
        for name in _THINKING_FIELDS:
            if isinstance(delta, Mapping) and isinstance(delta.get(name), str) and delta[name]:
                return name
    return _THINKING_FIELDS[0]


REQUEST: Final = RequestForm(
    history="messages",
    limits=("max_tokens", "max_completion_tokens"),
    ask=_ask,
    next_turns=_next_turns,
    styles=(
        RequestStyle(_STEADY),
        RequestStyle(_STEADY, _NEW_LIMIT),
        RequestStyle({}, _NEW_LIMIT),
        PLAIN,
    ),
    opts_in_by_header=True,
    switches=(
        "reasoning.effort",
        "reasoning.summary",
        "reasoning.max_tokens",
        "reasoning.enabled",
        "reasoning_effort",
        "thinking.type",
        "think",
        "enable_thinking",
        "include_thinking",
        "include_reasoning",
        "chat_template_kwargs.enable_thinking",
        "chat_template_kwargs.thinking",
    ),
    refusals=("reasoning.effort", "reasoning_effort", "thinking.type"),
)
