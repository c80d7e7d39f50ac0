"""Events and bodies of Cohere's Chat: what they give, and what they end with."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.authoring.cohere import body, call, ending, opening, plan, text, thinking
from tests.dialects.payloads import typed_payloads

USAGE = (7, 9, 4)


read = partial(typed_payloads, "cohere.v2")


def semantic(events: list[Any], *types: str) -> list[Any]:
    return [e for e in events if isinstance(e, tuple) and (not types or e[0] in types)]


def kinds(events: list[Any]) -> list[str]:
    return [name for name, _ in semantic(events)]


def test_thinking_then_text_and_the_end() -> None:
    events = read(opening(), *thinking(0, "a"), *text(1, "b"), ending("COMPLETE", USAGE))
    assert kinds(events) == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.end"),
        *("text.start", "text.delta", "text.end", "finish", "usage", "done"),
    ]
    assert semantic(events, "usage") == [
        ("usage", {"choice": 0, "input": 497, "output": 9, "reasoning": 4})
    ]
    assert [data["explicit"] for _, data in semantic(events, "thinking.start", "thinking.end")] == [
        True,
        True,
    ]


def test_calls_have_indices_of_their_own() -> None:
    events = read(opening(), *thinking(0, "a"), *call(0, "f", ['{"a":', "1}"]), *call(1, "g", []))
    ends = [
        (data["index"], data["name"], data["arguments"]) for _, data in semantic(events, "tool.end")
    ]
    assert ends == [(0, "f", '{"a":1}'), (1, "g", "")]


def test_a_plan_is_thinking_that_nobody_announced() -> None:
    events = read(opening(), *plan("I ask."), *call(0, "f", ["{}"]), ending("TOOL_CALL", USAGE))
    assert kinds(events)[1:5] == [
        *("thinking.start", "thinking.delta", "thinking.end", "tool.start")
    ]
    assert semantic(events, "thinking.start")[0][1]["explicit"] is False


@pytest.mark.parametrize(
    ("reason", "meaning"),
    [
        ("COMPLETE", "stop"),
        ("STOP_SEQUENCE", "stop"),
        ("MAX_TOKENS", "length"),
        ("TOOL_CALL", "tool_calls"),
        ("eos", "eos"),
    ],
)
def test_reasons_are_reported_in_neutral_words(reason: str, meaning: str) -> None:
    events = read(opening(), ending(reason, USAGE))
    assert semantic(events, "finish") == [("finish", {"choice": 0, "reason": meaning})]


@pytest.mark.parametrize("reason", ["ERROR", "TIMEOUT"])
def test_a_failed_generation_is_an_error_and_no_finish(reason: str) -> None:
    events = read(opening(), ending(reason, USAGE, error="no more"))
    assert [e[0] for e in semantic(events, "finish", "error", "done")] == ["error", "done"]
    assert semantic(events, "error")[0][1]["message"] == "no more"


def test_a_delta_without_a_start_begins_a_block() -> None:
    events = read(opening(), *thinking(0, "a")[1:], *text(0, "b")[1:])
    assert kinds(events) == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.end"),
        *("text.start", "text.delta", "text.end", "cut"),
    ]


def test_a_second_end_says_nothing() -> None:
    block = thinking(0, "a")
    assert kinds(read(opening(), *block, block[-1])).count("thinking.end") == 1


def test_a_start_at_an_open_index_ends_what_is_open() -> None:
    events = read(opening(), *thinking(0, "a")[:-1], *text(0, "b"))
    assert kinds(events)[1:4] == ["thinking.start", "thinking.delta", "thinking.end"]


def test_a_body_says_what_its_stream_would() -> None:
    blocks = [{"type": "thinking", "thinking": "a"}, {"type": "text", "text": "b"}]
    events = read(body({"content": blocks}, USAGE), kind="body")
    assert [e for e in events if isinstance(e, str)] == ["cohere.body", *["cohere.block"] * 2]
    assert kinds(events) == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.end"),
        *("text.start", "text.delta", "text.end", "finish", "usage", "done"),
    ]


@pytest.mark.parametrize("kind", ["event", "body"])
def test_an_error_is_its_message(kind: str) -> None:
    events = read({"message": "invalid api token"}, kind=kind)
    assert events[0] == "cohere.error"
    assert semantic(events, "error")[0][1]["message"] == "invalid api token"


def test_what_has_no_end_was_cut() -> None:
    assert kinds(read(opening(), *text(0, "b")))[-1] == "cut"


def test_too_many_parts_are_reported_once() -> None:
    starts = ({"type": "content-delta", "index": n, "delta": _text()} for n in range(4100))
    events = read(opening(), *starts, ending("COMPLETE", USAGE))
    assert events.count("cohere.overflow") == 1
    assert semantic(events, "finish", "cut", "done") == []


def _text() -> dict[str, Any]:
    return {"message": {"content": {"text": "b"}}}
