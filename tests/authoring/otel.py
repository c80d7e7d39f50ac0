"""Calls of a model as telemetry keeps them, so that they keep the rules."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring.pieces import Fields

CALL_ID: Final = "call_synthetic0001"


def given(*messages: Fields) -> Fields:
    """What a model was given, with what says of which call that is."""
    about = {"operation_name": "chat", "provider_name": "synthetic", "request_model": "think-1"}
    return {**about, "input_messages": [*messages]}


def answer(messages: list[Fields], usage: tuple[int, int, int]) -> Fields:
    """What it answered, with the tokens that it was given, said and thought."""
    counted, output, thinking = usage
    return {
        "output_messages": messages,
        "response_id": "resp_synthetic0001",
        "response_model": "think-1",
        "response_finish_reasons": [each["finish_reason"] for each in messages],
        "usage_input_tokens": counted,
        "usage_output_tokens": output,
        "usage_reasoning_output_tokens": thinking,
    }


def message(parts: list[Fields], reason: str = "stop") -> Fields:
    return {"role": "assistant", "parts": parts, "finish_reason": reason}


def user(said: str) -> Fields:
    return {"role": "user", "parts": [text(said)]}


def thought(said: str) -> Fields:
    return {"type": "reasoning", "content": said}


def text(said: str) -> Fields:
    return {"type": "text", "content": said}


def call(arguments: Any) -> Fields:
    named = {"id": CALL_ID, "name": "timetable"}
    return {"type": "tool_call", **named, "arguments": arguments}
