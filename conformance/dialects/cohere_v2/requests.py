"""Requests of Cohere's Chat API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.json_edge import elements
from conformance.dialects.requests import (
    PLAIN,
    Continuation,
    Question,
    RequestForm,
    RequestStyle,
    function_tools,
)


def _ask_body(question: Question) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": question.text}],
        "max_tokens": question.limit,
        "thinking": {"type": "enabled" if question.thinks else "disabled"},
        **function_tools(question.tools),
    }


def _next_turns(after: Continuation) -> list[Any]:
    content: list[dict[str, Any]] = []
    if after.thinking and after.keeps_thinking:
        content.append({"type": "thinking", "thinking": after.thinking})
    if after.text:
        content.append({"type": "text", "text": after.text})
    answer: dict[str, Any] = {"role": "assistant"}
    if content:
        answer["content"] = content
    if after.tools:
        answer["tool_calls"] = [_call_of(each) for each in after.tools]
    results = [
        {"role": "tool", "tool_call_id": each.get("id"), "content": result}
        for at, each in enumerate(after.tools)
        if (result := after.result_of(at))
    ]
    return [*elements(after.request.get("messages")), answer, *results, *after.user_turn]


def _call_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": tool.get("name"), "arguments": tool.get("arguments") or "{}"}
    return {"id": tool.get("id"), "type": "function", "function": function}


REQUEST: Final = RequestForm(
    history="messages",
    limits=("max_tokens",),
    ask=_ask_body,
    next_turns=_next_turns,
    styles=(RequestStyle({"temperature": 0, "seed": 0}), PLAIN),
    switches=("thinking.type",),
    refusals=("thinking.type",),
)
