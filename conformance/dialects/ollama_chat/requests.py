"""Requests of Ollama's native API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.json_edge import elements, mapping
from conformance.dialects.requests import (
    PLAIN,
    Continuation,
    Question,
    RequestForm,
    RequestStyle,
    function_tools,
    parsed_arguments,
    streams_by_default,
)
from conformance.dialects.unknown_keys import unknown_keys

_KNOWN: Final = frozenset({"role", "content", "thinking", "tool_calls"})


def _ask_body(question: Question) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": question.text}],
        "think": question.thinks,
        "options": {"num_predict": question.limit},
        **function_tools(question.tools),
    }


def _next_turns(after: Continuation) -> list[Any]:
    messages = [mapping(event.data.get("message")) for event in after.events]
    others = unknown_keys(messages, _KNOWN) if after.keeps_thinking else {}
    answer: dict[str, Any] = {**others, "role": "assistant", "content": after.text}
    if after.thinking and after.keeps_thinking:
        answer["thinking"] = after.thinking
    if after.tools:
        answer["tool_calls"] = list(map(_call_of, after.tools))
    results = [
        {"role": "tool", "tool_name": each.get("name"), "content": result}
        for at, each in enumerate(after.tools)
        if (result := after.result_of(at))
    ]
    return [*elements(after.request.get("messages")), answer, *results, *after.user_turn]


def _call_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A call as it is sent back; arguments that are no object are left out."""
    arguments = parsed_arguments(tool.get("arguments") or "")
    function = {"name": tool.get("name"), "arguments": mapping(arguments)}
    return {**({"id": tool["id"]} if tool.get("id") else {}), "function": function}


REQUEST: Final = RequestForm(
    history="messages",
    limits=("options.num_predict",),
    ask=_ask_body,
    next_turns=_next_turns,
    styles=(RequestStyle({"options": {"temperature": 0, "seed": 0}}), PLAIN),
    streams=streams_by_default,
    switches=("think",),
    refusals=("think",),
)
