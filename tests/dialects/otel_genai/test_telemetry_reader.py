"""Answers that telemetry keeps: what they give, choice by choice."""

from __future__ import annotations

import json
from typing import Any

from conformance import dialects
from conformance.core.events import Event, Frame, Request
from conformance.core.reading import Reading
from tests.authoring.otel import answer, call, message, text, thought
from tests.dialects.payloads import types_of

DIALECT = dialects.get("otel.genai")


def read(payload: Any) -> list[Event]:
    reader = DIALECT.reader(Reading())
    frame = Frame("body", "", json.dumps(payload), "", 0)
    return [*reader.read(frame, payload, 1), *reader.end("eof", 2)]


def of_wire(events: list[Event], kind: str) -> list[Any]:
    return [each.data for each in events if each.type == kind]


def test_reasoning_text_and_a_call() -> None:
    events = read(
        answer([message([thought("a"), text("b"), call({"x": 1})], "tool_call")], (1, 9, 2))
    )
    assert types_of(events) == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.end"),
        *("text.start", "text.delta", "text.end", "tool.start", "tool.delta", "tool.end"),
        *("finish", "usage", "done"),
    ]
    (finish,) = of_wire(events, "finish")
    assert finish["reason"] == "tool_calls"
    (usage,) = of_wire(events, "usage")
    assert (usage["input"], usage["output"], usage["reasoning"]) == (1, 9, 2)


def test_pieces_of_one_kind_are_one_text() -> None:
    """google-genai keeps every piece of a stream as a part of its own in the next request."""
    events = read(answer([message([thought("a"), thought("b"), text("c"), text("d")])], (1, 2, 1)))
    assert types_of(events).count("thinking.start") == types_of(events).count("text.start") == 1


def test_each_message_is_a_choice_and_what_agrees_is_reported() -> None:
    payload = answer([message([text("a")]), message([text("b")], "length")], (1, 2, 3))
    events = read(payload)
    assert [each["choice"] for each in of_wire(events, "otel.message")] == [0, 1]
    (about,) = of_wire(events, "otel.answer")
    assert (about["messages"], about["reasons_match"], about["reasoning_fits"]) == (2, True, False)


def test_a_reason_of_the_answer_counts_where_the_message_has_none() -> None:
    bare = {"role": "assistant", "parts": [text("a")]}
    events = read({"output_messages": [bare], "response_finish_reasons": ["length"]})
    assert [each["reason"] for each in of_wire(events, "finish")] == ["length"]


def test_a_failure_is_an_error_and_no_message_begins() -> None:
    events = read({"error_type": "TimeoutError", "response_model": "m"})
    assert types_of(events) == ["error", "done"]
    assert not of_wire(events, "otel.message")


def test_a_request_gives_its_parts() -> None:
    given = [{"role": "user", "parts": [text("a")]}, {"role": "assistant", "parts": [thought("b")]}]
    events = DIALECT.reader(Reading()).request(Request(json={"input_messages": given}))
    parts = of_wire(events, "request.part")
    assert [(p["role"], p["kind"], p["position"]) for p in parts] == [
        ("user", "text", 0),
        ("assistant", "reasoning", 1),
    ]


def test_hostile_answers_are_bounded() -> None:
    many = [message([text("a")] * 5000), message([text("b")])]
    assert len(of_wire(read(answer(many, (1, 2, 0))), "otel.overflow")) == 1
    odds: list[Any] = [{"output_messages": [7, {"parts": 5}]}, {"output_messages": {}}, [], None]
    for odd in odds:
        assert isinstance(read(odd), list)
