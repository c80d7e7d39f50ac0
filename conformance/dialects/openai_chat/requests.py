"""Requests of Chat Completions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from conformance.core.events import Event
from conformance.dialects.json_edge import elements, mapping, objects, string
from conformance.dialects.requests import (
    PLAIN,
    Continuation,
    Question,
    RequestForm,
    RequestStyle,
    function_tools,
)
from conformance.dialects.unknown_keys import unknown_keys

_THINKING_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_text")
_THINKING_BLOCKS: Final = ("reasoning_details", "thinking_blocks")
_KNOWN: Final = frozenset(
    {
        *("role", "content", "refusal", "tool_calls", "function_call", *_THINKING_FIELDS),
        *("choice", "finish_reason", "value"),  # what the reader put there
    }
)
_STEADY: Final = {"temperature": 0, "seed": 0}
_NEW_LIMIT: Final = {"max_tokens": "max_completion_tokens"}


def _ask_body(question: Question) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": question.text}],
        "max_tokens": question.limit,
        **({"stream_options": {"include_usage": True}} if question.streams else {}),
        **({"reasoning_effort": "low"} if question.thinks else {}),
        **function_tools(question.tools),
    }


def _next_turns(after: Continuation) -> list[Any]:
    answer = _answer_turn(after)
    results = [
        {"role": "tool", "tool_call_id": each["id"], "content": after.result_of(at)}
        for at, each in enumerate(answer.get("tool_calls", ()))
    ]
    return [*elements(after.request.get("messages")), answer, *results, *after.user_turn]


def _answer_turn(after: Continuation) -> dict[str, Any]:
    """The message of the answer; undocumented fields go back with the thinking."""
    deltas = [delta for event in after.events if (delta := _first_delta(event))]
    answer: dict[str, Any] = {"role": "assistant", "content": after.text or None}
    others = unknown_keys(deltas, _KNOWN) if after.keeps_thinking else {}
    if after.thinking and after.keeps_thinking:
        held = any(carrier in others for carrier in _THINKING_BLOCKS)
        default = "" if held else _THINKING_FIELDS[0]
        answer |= {name: after.thinking for name in [_thinking_field(deltas) or default] if name}
    calls = [each for each in after.tools if each.get("id")]
    if calls:
        answer["tool_calls"] = [_call_of(each, deltas) for each in calls]
    return {**others, **answer}


def _first_delta(event: Event) -> Mapping[str, Any]:
    """What a choice adds, or a whole message says; empty for anything but the first choice."""
    if event.type == "chat.choice":
        is_first = event.data.get("index") in (0, None)
        return mapping(event.data.get("delta")) if is_first else {}
    is_first = event.data.get("choice") in (0, None)
    return event.data if event.type == "chat.message" and is_first else {}


def _call_of(tool: Mapping[str, Any], deltas: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    given = [call for delta in deltas for call in objects(delta.get("tool_calls"))]
    numbers = {call["index"] for call in given if call.get("id") == tool["id"] and "index" in call}
    parts = [c for c in given if c.get("id") == tool["id"] or c.get("index") in numbers]
    function = {"name": tool.get("name"), "arguments": tool.get("arguments")}
    others = unknown_keys(parts, ("index", "id", "type", "function"))
    return {**others, "id": tool["id"], "type": "function", "function": function}


def _thinking_field(deltas: Iterable[Mapping[str, Any]]) -> str:
    """The field in which thinking came, so that it goes back in the same one; empty if none."""
    held = (name for delta in deltas for name in _THINKING_FIELDS if string(delta.get(name)))
    return next(held, "")


REQUEST: Final = RequestForm(
    history="messages",
    limits=("max_tokens", "max_completion_tokens"),
    ask=_ask_body,
    next_turns=_next_turns,
    styles=(
        RequestStyle(_STEADY),
        RequestStyle(_STEADY, _NEW_LIMIT),
        RequestStyle({}, _NEW_LIMIT),
        PLAIN,
    ),
    opts_in_by_header=True,
    switches=(
        *("reasoning.effort", "reasoning.summary", "reasoning.max_tokens", "reasoning.enabled"),
        *("reasoning_effort", "thinking.type", "think", "enable_thinking", "include_thinking"),
        "include_reasoning",
        *("chat_template_kwargs.enable_thinking", "chat_template_kwargs.thinking"),
    ),
    refusals=("reasoning.effort", "reasoning_effort", "thinking.type"),
)
