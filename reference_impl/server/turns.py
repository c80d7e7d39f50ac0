"""Turns of a conversation, and tools, as chat templates know them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

Turn = Mapping[str, Any]


def assistant(text: str, reasoning: str = "", calls: Sequence[Mapping[str, Any]] = ()) -> Turn:
    """A turn of the model, without what it did not have."""
    turn: dict[str, Any] = {"role": "assistant", "content": text}
    if reasoning:
        turn["reasoning_content"] = reasoning
    if calls:
        turn["tool_calls"] = list(calls)
    return turn


def function_call(call_id: str, name: str, arguments: str | Mapping[str, Any]) -> dict[str, Any]:
    """A call of the history. Arguments that are no JSON object stay the text they are."""
    given: Any = arguments
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(arguments)
            given = value if isinstance(value, dict) else arguments
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": given}}


def function_calls(calls: Iterable[Any] | None) -> list[dict[str, Any]]:
    """The calls of a turn in the form that Chat Completions, Cohere and Ollama share."""
    return [
        function_call(call.id, call.function.name, call.function.arguments) for call in calls or ()
    ]


def text_turn(role: str, text: str) -> Turn:
    return {"role": role, "content": text}


def result_turn(call_id: str, text: str) -> Turn:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def joined_text(content: str | list[Any] | None) -> str:
    """The text of a content: a string, or the texts of its parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.text for part in content)


def function_tool(name: str, description: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    function = {"name": name, "description": description, "parameters": dict(parameters)}
    return {"type": "function", "function": function}
