"""Events and bodies of the Interactions API: what they give, and what they end with."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from conformance import dialects
from conformance.core.events import Frame
from conformance.core.reading import Reading
from conformance.dialects.requests import Continuation
from tests.authoring.interactions import (
    body,
    call,
    completed,
    created,
    output,
    step,
    thought,
    updated,
    written,
)
from tests.dialects.payloads import typed_payloads

USAGE = (7, 5, 4)
SIGNED = {"type": "thought", "signature": "c2ln"}


read = partial(typed_payloads, "gemini.interactions")


def semantic(events: list[Any], *types: str) -> list[Any]:
    return [e for e in events if isinstance(e, tuple) and (not types or e[0] in types)]


def kinds(events: list[Any]) -> list[str]:
    return [name for name, _ in semantic(events)]


def test_a_thought_then_text_and_the_end() -> None:
    steps = [*thought(0, "c2ln", ["a"]), *output(1, "b")]
    events = read(created(), updated(), *steps, completed(USAGE, "completed"))
    assert kinds(events) == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.opaque", "thinking.end"),
        *("text.start", "text.delta", "text.end", "finish", "usage", "done"),
    ]
    counts = {"choice": 0, "input": 7, "output": 9, "reasoning": 4, "total": 16}
    assert semantic(events, "usage") == [("usage", counts)]
    assert semantic(events, "thinking.delta")[0][1]["channel"] == "summary"
    assert "interaction.usage" in events


def test_a_thought_without_a_summary_starts_and_ends() -> None:
    events = read(created(), *thought(0, "c2ln"), completed(USAGE, "completed"))
    assert kinds(events)[1:4] == ["thinking.start", "thinking.opaque", "thinking.end"]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("completed", "stop"),
        ("requires_action", "tool_calls"),
        ("incomplete", "length"),
        ("budget_exceeded", "length"),
    ],
)
def test_the_status_is_why_it_ended(status: str, reason: str) -> None:
    events = read(created(), completed(USAGE, status))
    assert semantic(events, "finish")[0][1]["reason"] == reason
    assert semantic(events, "done") == [("done", {"choice": 0, "explicit": True})]


def test_what_failed_is_an_error_and_no_finish() -> None:
    failed = completed(USAGE, "failed", errors=[{"code": "internal", "message": "gone"}])
    events = read(created(), failed)
    assert semantic(events, "error")[0][1]["message"] == "gone"
    assert not semantic(events, "finish")


def test_calls_end_with_their_joined_arguments() -> None:
    events = read(created(), *call(0, "a1", "f", ['{"a":', "1}"]), *call(1, "b2", "g", []))
    ends = [
        (d["index"], d["id"], d["name"], d["arguments"]) for _, d in semantic(events, "tool.end")
    ]
    assert ends == [(0, "a1", "f", '{"a":1}'), (1, "b2", "g", "{}")]
    assert not semantic(events, "thinking.opaque")  # the empty signature of a call is none


def test_calls_of_the_server_are_hosted() -> None:
    begun = {"type": "google_search_call", "id": "s1"}
    delta = {"type": "google_search_call", "arguments": {"queries": ["x"]}}
    events = read(created(), *step(0, begun, [delta]))
    (call_end,) = semantic(events, "tool.end")
    assert call_end[1]["hosted"] is True
    assert (call_end[1]["name"], call_end[1]["arguments"]) == ("google_search", '{"queries":["x"]}')


def test_a_body_gives_what_a_stream_gives() -> None:
    step = {**SIGNED, "summary": [written("a")]}
    whole = body([step, {"type": "model_output", "content": [written("b")]}], USAGE)
    events = read(whole, kind="body")
    assert [e for e in events if isinstance(e, str)] == [
        *("interaction", "interaction.step", "interaction.step", "interaction.usage")
    ]
    assert kinds(events) == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.opaque", "thinking.end"),
        *("text.start", "text.delta", "text.end", "finish", "usage", "done"),
    ]


def test_a_body_in_progress_is_not_done() -> None:
    events = read({**body([SIGNED], USAGE), "status": "in_progress"}, kind="body")
    assert kinds(events)[-1] == "cut"


def test_a_stream_without_its_end_was_cut() -> None:
    events = read(created(), *output(0, "b"))
    assert semantic(events)[-1] == ("cut", {"choice": 0, "how": "eof"})


def test_an_error_ends_what_is_open() -> None:
    events = read(
        created(), *output(0, "b")[:2], {"event_type": "error", "error": {"message": "x"}}
    )
    assert kinds(events)[-3:] == ["text.end", "error", "cut"]


def test_steps_of_users_and_results_say_nothing() -> None:
    asked = {"type": "user_input", "content": [written("hello")]}
    given = {"type": "function_result", "call_id": "a1", "result": "5"}
    events = read(body([asked, given], USAGE), kind="body")
    assert kinds(events) == ["message.start", "finish", "usage", "done"]


def test_too_many_steps_are_reported_once() -> None:
    starts = [step(n, {"type": "model_output"}, [])[0] for n in range(4098)]
    assert read(created(), *starts).count("interaction.overflow") == 1


@pytest.mark.parametrize(
    "payload",
    [
        {"event_type": "step.delta", "index": 0, "delta": 7},
        {"event_type": "step.start", "index": "0", "step": []},
        {"event_type": "interaction.completed", "interaction": [1]},
        {"event_type": 7},
        {"event_type": "step.delta", "delta": {"type": "thought_summary", "content": "x"}},
        [],
        "text",
    ],
)
def test_hostile_payloads_are_read(payload: Any) -> None:
    assert read(payload)
    assert read(payload, kind="body")


def test_steps_that_go_back_are_put_together() -> None:
    form = dialects.get("gemini.interactions").request
    assert form is not None
    reader = dialects.get("gemini.interactions").reader(Reading())
    payloads = [created(), *thought(0, "c2ln", ["a"]), *call(1, "a1", "f", ['{"a":', "1}"])]
    events = [
        event
        for number, payload in enumerate(payloads, 1)
        for event in reader.read(Frame("event", "", "", "", 0), payload, number)
    ]
    after = Continuation(
        request={"input": "hello"},
        events=events,
        thinking="",
        text="",
        tools=({"id": "a1", "name": "f"},),
        keeps_thinking=True,
        results=("5",),
        question="",
    )
    steps = form.next_turns(after)
    assert steps[1:] == [
        {**SIGNED, "summary": [written("a")]},
        {"type": "function_call", "id": "a1", "name": "f", "arguments": {"a": 1}},
        {"type": "function_result", "call_id": "a1", "result": "5", "name": "f"},
    ]
