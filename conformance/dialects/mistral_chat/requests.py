"""Requests of Mistral's chat.

Thinking goes back as the part that it was: other fields are refused (HTTP 422).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from conformance.core.events import Event
from conformance.dialects.json_edge import elements, mapping, string
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
        **({"reasoning_effort": "high"} if question.thinks else {}),
        **function_tools(question.tools),
    }


def _next_turns(after: Continuation) -> list[Any]:
    answer: dict[str, Any] = {"role": "assistant", "content": _content(after)}
    calls = [each for each in after.tools if each.get("id")]
    if calls:
        answer["tool_calls"] = [_call_of(each) for each in calls]
    results = [
        {"role": "tool", "tool_call_id": each["id"], "name": each.get("name"), "content": result}
        for at, each in enumerate(calls)
        if (result := after.result_of(at))
    ]
    return [*elements(after.request.get("messages")), answer, *results, *after.user_turn]


def _content(after: Continuation) -> Any:
    """Thinking and text as parts; the text alone where there is no thinking."""
    if not (after.thinking and after.keeps_thinking):
        return after.text
    thought = [{"type": "text", "text": after.thinking}]
    signature = _signature(after.events)
    signed = {"signature": signature} if signature else {}
    part = {"type": "thinking", "thinking": thought, "closed": True, **signed}
    return [part, *([{"type": "text", "text": after.text}] if after.text else [])]


def _signature(events: Iterable[Event]) -> str:
    """The last signature of a part of thinking; empty where there is none."""
    parts = (event.data for event in events if event.type == "chat.part")
    found = [string(part.get("signature")) for part in parts if part.get("kind") == "thinking"]
    return next((each for each in reversed(found) if each), "")


def _call_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": tool.get("name"), "arguments": tool.get("arguments") or "{}"}
    return {"id": tool["id"], "type": "function", "function": mapping(function)}


REQUEST: Final = RequestForm(
    history="messages",
    limits=("max_tokens",),
    ask=_ask_body,
    next_turns=_next_turns,
    styles=(RequestStyle({"temperature": 0, "random_seed": 0}), PLAIN),
    switches=("reasoning_effort", "prompt_mode"),
    refusals=("reasoning_effort",),
)
