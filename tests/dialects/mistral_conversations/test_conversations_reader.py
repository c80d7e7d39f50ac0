"""Events and bodies of Mistral's conversations: what they give, and what they end with."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from conformance import dialects
from conformance.core.events import Event, Request
from conformance.core.reading import Reading
from conformance.dialects.requested_effort import requested_effort
from conformance.dialects.requests import Continuation, Question
from tests.authoring.conversations import (
    answer,
    body,
    function,
    listed,
    searched,
    text,
    thinking,
    thought,
    written,
)
from tests.dialects.payloads import read_payloads

DIALECT = dialects.get("mistral.conversations")
START = {"type": "conversation.response.started", "conversation_id": "c"}
DONE = {"type": "conversation.response.done", "usage": {}}
FAILED = {"type": "conversation.response.error", "message": "gone", "code": 503}
SAID = {"type": "message.output.delta", "id": "m", "content": "a"}
THOUGHT = {**SAID, "content": thinking("a")}


read = partial(read_payloads, "mistral.conversations")


def kinds(events: list[Event], layer: str = "semantic") -> list[str]:
    return [each.type for each in events if each.layer == layer]


def payloads(*content: Any) -> list[Any]:
    return [each.payload for each in answer([each for every in content for each in every], (7, 9))]


def test_a_thought_then_text_and_the_end() -> None:
    events = read(*payloads(thought(0, "a b c"), text(0, ["d", written("e"), ""])))
    assert kinds(events) == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.delta", "thinking.end"),
        *("text.start", "text.delta", "text.delta", "text.end", "usage", "done"),
    ]
    assert events[-2].data == {"choice": 0, "input": 7, "output": 9, "total": 16}


def test_a_delta_that_says_nothing_splits_no_thought() -> None:
    events = read(*payloads(thought(0, "a"), text(0, [""]), thought(0, "b")))
    assert kinds(events).count("thinking.start") == 1


def test_parts_and_entries_are_wire_events() -> None:
    events = read(START, THOUGHT, {**THOUGHT, "content": {"text": "b"}, "output_index": 1})
    assert kinds(events, "wire") == [
        *("conversation.response.started", "conversation.entry", "message.output.delta"),
        *("conversation.part", "conversation.entry", "message.output.delta", "conversation.part"),
    ]
    parts = [each.data for each in events if each.type == "conversation.part"]
    assert [(p["kind"], p["within"], p["output_index"]) for p in parts] == [
        ("thinking", "text", 0),
        ("text", "", 1),
    ]


def test_calls_of_the_client_and_of_the_server() -> None:
    called = [function(1, '{"a":'), function(1, "1}")]
    events = read(*payloads(searched(0), called, text(2, ["b"])))
    ended = [each.data for each in events if each.type == "tool.end"]
    assert [(each["name"], each.get("hosted"), each["arguments"]) for each in ended] == [
        ("web_search", True, '{"query":"ferry"}'),
        ("timetable", None, '{"a":1}'),
    ]


@pytest.mark.parametrize(
    ("expected", "wanted"),
    [
        ([START, THOUGHT, SAID, DONE], ["thinking.end", "text.end", "done"]),
        ([START, THOUGHT, FAILED], ["thinking.end", "error", "cut"]),
        ([START, THOUGHT], ["thinking.end", "cut"]),
        ([SAID, DONE], ["text.end", "done"]),
        # A tool that nobody announced, and one that ends twice.
        ([START, searched(0)[-1].payload, DONE], ["tool.end", "done"]),
        ([{"type": "other"}], ["cut"]),
    ],
)
def test_what_comes_to_an_end(expected: list[Any], wanted: list[str]) -> None:
    ends = {"thinking.end", "text.end", "tool.end", "error", "done", "cut"}
    assert [each for each in kinds(read(*expected)) if each in ends] == wanted


def test_a_signature_is_opaque() -> None:
    sealed = thinking("", signature="c2VhbA==")
    events = read(START, THOUGHT, {**THOUGHT, "content": sealed}, DONE)
    (found,) = [each.data for each in events if each.type == "thinking.opaque"]
    assert (found["kind"], found["data"]) == ("signature", "c2VhbA==")


def test_a_second_start_begins_the_next_answer() -> None:
    events = read(START, SAID, DONE, START, SAID, DONE)
    assert [each.answer for each in events if each.type == "text.delta"] == [1, 2]


def test_more_entries_than_are_followed_end_the_reading() -> None:
    found = [{**SAID, "output_index": number} for number in range(5000)]
    events = read(START, *found, DONE)
    assert kinds(events, "wire").count("conversation.overflow") == 1
    assert "done" not in kinds(events)


def test_a_body_gives_what_a_stream_gives() -> None:
    message = listed("message.output", "msg", 0, content=[thinking("a"), written("b")])
    tool = listed("tool.execution", "tool", 1, name="look", arguments="{}")
    called = listed("function.call", "fc", 2, name="f", tool_call_id="x", arguments={"a": 1})
    events = read(body([message, tool, called, listed("other", "o", 3)], (7, 9)), kind="body")
    assert kinds(events) == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.end"),
        *("text.start", "text.delta", "text.end", "tool.start", "tool.delta", "tool.end"),
        *("tool.start", "tool.delta", "tool.end", "usage", "done"),
    ]


@pytest.mark.parametrize(
    ("payload", "wanted"),
    [
        ({"object": "error", "message": "x"}, ["error", "done"]),
        ({"error": {"message": "x"}}, ["error", "done"]),
        ({"id": "x"}, ["done"]),
        ([], ["done"]),
    ],
)
def test_a_body_that_is_no_answer(payload: Any, wanted: list[str]) -> None:
    assert kinds(read(payload, kind="body")) == wanted


def test_a_request_says_what_is_new() -> None:
    form, turns = DIALECT.request, DIALECT.turns
    assert form is not None
    assert turns is not None
    asked = form.ask(Question("Hello", 9, streams=True, thinks=True, summarises=False))
    assert asked["completion_args"] == {"max_tokens": 9, "reasoning_effort": "high"}
    assert form.limit(asked) == 9
    wish = requested_effort({"completion_args": {"reasoning_effort": "none"}})
    assert wish is not None
    assert wish.stance == "off"
    tool = {"id": "x", "name": "f", "arguments": "{}"}
    after = Continuation(
        asked, (), "", "", (tool,), keeps_thinking=True, results=("5",), question="So"
    )
    entries = form.next_turns(after)
    assert [turns.read(each).by for each in entries] == ["tool", "user"]
    assert turns.read(entries[0]).results == ("x",)
    answers = [
        {"type": "message.output", "content": "a"},
        {"type": "function.call", "tool_call_id": "x", "name": "f", "arguments": "{}"},
    ]
    assert all(map(form.is_answer, answers))
    assert [turns.read(each).by for each in answers] == ["model", "model"]
    assert (
        DIALECT.reader(Reading()).request(Request(json={"inputs": "a"}))[1].type == "request.item"
    )
