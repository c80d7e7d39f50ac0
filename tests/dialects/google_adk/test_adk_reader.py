"""Events of ADK's server: what fragments and whole events give, and when a run is done."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import pytest

from conformance import dialects
from conformance.core.events import Event, Request
from conformance.dialects.google_adk.vocabulary import OVERFLOW
from conformance.dialects.requests import Continuation, Question
from tests.authoring.adk import (
    CALL_ID,
    Run,
    call,
    content,
    error,
    text_part,
    thought,
    tool_round,
    usage,
)
from tests.dialects.payloads import read_payloads, texts_of, types_of

DIALECT: Final = dialects.get("google.adk")
COUNTS: Final = usage(7, 5, 4)


read = partial(read_payloads, "google.adk")


def wired(events: list[Event], kind: str) -> list[Mapping[str, Any]]:
    return [each.data for each in events if each.type == kind]


def test_whole_event_is_not_repeated() -> None:
    events = read(*Run().answer([thought("a b"), text_part("c d")], COUNTS))
    assert types_of(events) == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.end"),
        *("text.start", "text.delta", "text.end", "usage", "finish", "done"),
    ]
    assert (texts_of(events, "thinking.delta"), texts_of(events, "text.delta")) == (
        "a b",
        "c d",
    )
    (whole,) = wired(events, "adk.event")
    assert whole["states"] == whole["streamed"] == {"thought": "a b", "text": "c d"}
    (counted,) = wired(events, "usage")
    assert counted == {"choice": 0, "input": 7, "output": 9, "reasoning": 4, "total": 16}


def test_what_no_fragment_had_counts_from_the_whole_event() -> None:
    fragments = Run().answer([text_part("c d")], COUNTS)
    whole = {**fragments[-1], **content(thought("a"), text_part("c d"))}
    events = read(*fragments[:-1], whole)
    assert texts_of(events, "thinking.delta") == "a"
    assert texts_of(events, "text.delta") == "c d"


def test_a_run_without_a_stream_says_all_in_whole_events() -> None:
    run = Run()
    payloads = [run.whole([thought("a"), text_part("b")], COUNTS)]
    for events in (read(*payloads), read(payloads, kind="body")):
        assert texts_of(events, "thinking.delta") + texts_of(events, "text.delta") == "ab"
        assert types_of(events)[-2:] == ["finish", "done"]
        assert "streamed" not in wired(events, "adk.event")[0]


def test_a_call_counts_once_and_its_result_is_known() -> None:
    events = read(*tool_round(Run()))
    (ended,) = wired(events, "tool.end")
    assert (ended["id"], ended["name"], ended["arguments"]) == (
        CALL_ID,
        "read_board",
        '{"line":"noon"}',
    )
    calls = [each for each in wired(events, "adk.part") if each["kind"] == "functionCall"]
    assert [each["is_partial"] for each in calls] == [True, False]
    (result,) = [e for e in wired(events, "adk.part") if e["kind"] == "functionResponse"]
    assert result["call_known"] is True
    assert len(wired(events, "thinking.opaque")) == 1


@pytest.mark.parametrize(
    ("change", "ends"),
    [
        ({}, "done"),
        ({"partial": True}, "cut"),
        ({"longRunningToolIds": [CALL_ID], **content(call("ask", {}, "c2ln"))}, "done"),
        ({"longRunningToolIds": [], **content(call("ask", {}, "c2ln"))}, "cut"),
        ({"errorCode": "MAX_TOKENS", "finishReason": "MAX_TOKENS"}, "done"),
        ({"errorCode": "OTHER_FAULT"}, "cut"),
    ],
)
def test_a_run_is_done_where_it_has_settled(change: dict[str, Any], ends: str) -> None:
    assert types_of(read({**Run().whole([text_part("a")], COUNTS), **change}))[-1] == ends
    assert types_of(read(Run().whole([text_part("a")], COUNTS), end="reset"))[-1] == "cut"


def test_a_limit_is_a_reason_and_no_error() -> None:
    limit = {"errorCode": "MAX_TOKENS", "finishReason": "MAX_TOKENS"}
    events = read({**Run().whole([text_part("a")], COUNTS), **limit})
    assert wired(events, "finish")[0]["reason"] == "length"
    assert not wired(events, "error")


def test_a_reason_of_a_fragment_or_a_code_alone_counts() -> None:
    """As ADK 1.14 sends them: whole events have no finish reason."""
    *fragments, whole = Run().answer([text_part("a b")], COUNTS)
    bare = {key: value for key, value in whole.items() if key != "finishReason"}
    events = read(*fragments, bare)
    assert wired(events, "finish")[0]["reason"] == "stop"
    assert wired(events, "adk.event")[0]["reasoned"] is True
    events = read(*fragments, {**bare, "errorCode": "MAX_TOKENS"})
    assert wired(events, "finish")[0]["reason"] == "length"
    assert not wired(events, "error")


def test_a_failure_that_comes_twice_is_one_error() -> None:
    events = read(Run().failure("UNAVAILABLE", "away"), error("ServerError", "away"))
    (failed,) = wired(events, "error")
    assert (failed["code"], failed["message"]) == ("UNAVAILABLE", "away")
    assert types_of(read(error("ServerError", "away"))) == ["error", "cut"]


def test_another_invocation_is_the_next_answer_where_no_request_is_known() -> None:
    first, second = (
        Run().whole([text_part("a")], COUNTS),
        Run(invocation="e-2").whole([text_part("b")], {}),
    )
    assert {each.answer for each in read(first, second)} == {1, 2}
    assert types_of(read(first, second)).count("done") == 2
    assert {each.answer for each in read(first, second, request={"newMessage": {}})} == {1}


def test_agents_side_by_side_are_kept_apart_and_bounded() -> None:
    run = Run()
    one, two = (run.answer([text_part(f"of {name}")], COUNTS, author=name) for name in "ab")
    states = [
        e["streamed"]["text"] for e in wired(read(one[0], two[0], one[1], two[1]), "adk.event")
    ]
    assert states == ["of a", "of b"]
    many = [run.event(author=f"agent-{number}") for number in range(70)]
    events = read(*many, run.whole([text_part("late")], COUNTS))
    assert len(wired(events, OVERFLOW)) == 1
    assert not texts_of(events, "text.delta")


def test_a_question_goes_to_the_session_that_remembers_the_rest() -> None:
    form = DIALECT.request
    assert form is not None
    question = Question("Hi", 9, streams=True, thinks=True, summarises=False)
    body = form.ask(question)
    assert body["newMessage"] == {"role": "user", "parts": [{"text": "Hi"}]}
    assert form.streams(body) is True
    after = Continuation(
        request=body,
        events=(),
        thinking="",
        text="a",
        tools=(),
        keeps_thinking=True,
        results=(),
        question="And?",
    )
    assert form.next_turns(after) == [{"text": "And?"}]
    assert list(DIALECT.prompt_texts(Request(json=body))).count("Hi") == 1


def test_strangers_are_named_and_not_read() -> None:
    events = read({"content": {"parts": []}}, 5, {"type": "text-delta", "id": "t"})
    assert len(wired(events, "adk.unknown")) == 3
    assert types_of(events) == ["cut"]
