"""Calls of a model as telemetry keeps them, so that they keep the rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tests.authoring.draft import Draft, body_draft
from tests.authoring.pieces import Fields, opaque

DIALECT: Final = "otel.genai"
TIDE: Final = "High water was at six, and the tide turns after some six hours and a quarter."
TIDE_TEXT: Final = "Low water is at a quarter past twelve."
FERRY: Final = "I have to look that up in the timetable."
CALL_ID: Final = "call_synthetic0001"

drafted = partial(body_draft, dialect=DIALECT, path="/")


def drafts() -> Iterator[Draft]:
    asked = given(user("When is low water?"))
    said = answer([message([thought(TIDE), text(TIDE_TEXT)])], (15, 38, 24))
    yield drafted("otel/thinking-then-text", asked, said)

    said = answer([message([text("さくらの花は淡い桃色です。")])], (8, 12, 0))
    yield drafted("otel/no-thinking", given(user("さくらは何色ですか。")), said)

    yield _tool_talk()

    found = {"type": "web_search", "results": 3}
    searched = {"type": "server_tool_call", "id": "srv_1", "name": "web_search"}
    parts = [
        thought("I search for that."),
        {**searched, "server_tool_call": {"type": "web_search", "query": "ferry"}},
        {"type": "server_tool_call_response", "id": "srv_1", "server_tool_call_response": found},
        text("It sails at nine."),
    ]
    said = answer([message(parts)], (61, 47, 9))
    yield drafted("otel/server-tool", given(user("When does the ferry sail?")), said)

    choices = [message([thought(TIDE), text(TIDE_TEXT)]), message([text("At noon.")], "length")]
    yield drafted("otel/two-choices", asked, answer(choices, (15, 52, 24)))

    failed = {"error_type": "APITimeoutError", "response_model": "think-1"}
    yield drafted("otel/failed", asked, failed)

    signed = {**thought(TIDE), "signature": opaque("tide")}
    said = answer([message([signed, text(TIDE_TEXT)])], (15, 38, 24))
    yield drafted("otel/signed", asked, said)


def _tool_talk() -> Draft:
    """A turn that calls, the one that brings the result, and a new question."""
    called = [thought(FERRY), call({"line": "island"})]
    result = {"type": "tool_call_response", "id": CALL_ID, "response": {"sails": "at nine"}}
    history = [
        user("When does the ferry sail?"),
        {"role": "assistant", "parts": called},
        {"role": "tool", "parts": [result]},
    ]
    told = [thought("It says nine."), text("It sails at nine.")]
    more = [*history, {"role": "assistant", "parts": told}, user("And back?")]
    first = _turn(history[:1], message(called, "tool_call"), (40, 30, 12))
    second = _turn(history, message(told), (84, 16, 5))
    third = _turn(more, message([text("At eleven.")]), (102, 6, 0))
    return replace(first, then=(second, third))


def _turn(history: list[Fields], said: Fields, usage: tuple[int, int, int]) -> Draft:
    tool = {"type": "function", "name": "timetable"}
    asked = {**given(*history), "tool_definitions": [tool]}
    return drafted("otel/tool-talk", asked, answer([said], usage))


def given(*messages: Fields) -> Fields:
    """What a model was given, with what says of which call that is."""
    about = {"operation_name": "chat", "provider_name": "synthetic", "request_model": "think-1"}
    return {**about, "input_messages": [*messages]}


def answer(messages: list[Fields], usage: tuple[int, int, int]) -> Fields:
    """What it answered, with the tokens that it was given, said and thought."""
    counted, said, thinking = usage
    return {
        "output_messages": messages,
        "response_id": "resp_synthetic0001",
        "response_model": "think-1",
        "response_finish_reasons": [each["finish_reason"] for each in messages],
        "usage_input_tokens": counted,
        "usage_output_tokens": said,
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
