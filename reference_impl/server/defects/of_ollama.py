"""Defects of Ollama's chat alone: lines that are lost, doubled or filled wrongly."""

from __future__ import annotations

import json
from typing import Any, Final

from .defect import Defect
from .wires import Claim, doubled, edited, fields, lost


def _has(key: str) -> Claim:
    """Lines whose message says something there."""
    return lambda wire: bool(fields(wire).get("message", {}).get(key))


def _is_last(wire: Any) -> bool:
    return fields(wire).get("done") is True


def _arguments_as_text(payload: dict[str, Any]) -> None:
    calls = [
        {**call, "function": {**call["function"], "arguments": _text(call)}}
        for call in payload["message"]["tool_calls"]
    ]
    payload["message"] = {**payload["message"], "tool_calls": calls}


def _text(call: dict[str, Any]) -> str:
    return json.dumps(call["function"]["arguments"])


def _empty_thinking(payload: dict[str, Any]) -> None:
    payload["message"] = {**payload["message"], "thinking": ""}


def _no_content(payload: dict[str, Any]) -> None:
    payload["message"] = {k: v for k, v in payload["message"].items() if k != "content"}


def _seconds(payload: dict[str, Any]) -> None:
    payload["total_duration"] = 0.25


OF_OLLAMA: Final = (
    Defect(
        "last-line-missing",
        "the line that says that the answer is done is not sent",
        {
            "ollama": (
                "wire/ollama/answer-counted",
                "wire/ollama/body-done",
                "wire/ollama/done-present",
                "wire/ollama/prompt-counted",
                "wire/ollama/reason-stated",
            )
        },
        wires=lost(_is_last),
        live=("scenario/ending",),
    ),
    Defect(
        "last-line-twice",
        "the last line is sent twice",
        {"ollama": ("wire/ollama/done-once",)},
        wires=doubled(_is_last),
    ),
    Defect(
        "arguments-as-text",
        "the arguments of a call are the text that the model wrote",
        {"ollama": ("history/ollama/arguments-are-objects", "wire/ollama/tool-arguments")},
        wires=edited(_has("tool_calls"), _arguments_as_text),
    ),
    Defect(
        "empty-thinking-beside-text",
        "every line of text has an empty thinking",
        {"ollama": ("wire/ollama/thinking-not-empty",)},
        wires=edited(_has("content"), _empty_thinking),
    ),
    Defect(
        "content-left-out",
        "lines of thinking have no content",
        {"ollama": ("wire/ollama/content-is-text",)},
        wires=edited(_has("thinking"), _no_content),
    ),
    Defect(
        "durations-in-seconds",
        "durations are seconds with a fraction",
        {"ollama": ("wire/ollama/counts-are-whole",)},
        wires=edited(_is_last, _seconds),
    ),
)
