"""A server keeps the form that a request asks for, or is found; what nobody asked for is free."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from tests.evidence.test_demands import JSON, counted, exchange, found, stream

TOOL = {"type": "function", "function": {"name": "calculator", "parameters": {"type": "object"}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "calculator", "arguments": "{}"}}
NAMED = {"type": "function", "function": {"name": "calculator"}}


def body(
    text: str | None = "2 + 2 = 4",
    *,
    called: bool = False,
    thinking: str = "",
    usage: dict[str, Any] | None = None,
) -> str:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if called:
        message["tool_calls"] = [CALL]
    if thinking:
        message["reasoning_content"] = thinking
    reason = "tool_calls" if called else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    given = {} if usage is None else {"usage": usage}
    return json.dumps({**head, "choices": [choice], **given})


def judged(folder: Path, said: str, *, kind: str = JSON, **asked: Any) -> set[str]:
    """Rules that fail on a whole body; endings are for another rule."""
    rules = found(folder, exchange(said, kind=kind, **{"stream": False, **asked}))
    return rules - {"ending"}


CHOICES: list[tuple[Any, bool, set[str]]] = [
    ("required", True, set()),
    ("required", False, {"call-as-asked"}),
    (NAMED, True, set()),
    (NAMED, False, {"call-as-asked"}),
    ("none", False, set()),
    ("none", True, {"call-as-asked"}),
    ("auto", False, set()),
    ("auto", True, set()),
]


@pytest.mark.parametrize(("choice", "called", "rules"), CHOICES)
def test_demanded_call_comes(choice: Any, called: bool, rules: set[str], tmp_path: Path) -> None:
    answer = body(called=called)
    assert judged(tmp_path, answer, tools=[TOOL], tool_choice=choice) == rules


def test_what_offers_no_tools_demands_no_call(tmp_path: Path) -> None:
    assert judged(tmp_path, body(), tool_choice="required") == set()


STOPS: list[tuple[dict[str, Any], str, set[str]]] = [
    ({"stop": ["="]}, "2 + 2 = 4", {"stops-kept"}),
    ({"stop": "="}, "2 + 2 = 4", {"stops-kept"}),
    ({"stop": ["="]}, "2 + 2 ", set()),
    ({"stop": ["="], "include_stop_str_in_output": True}, "2 + 2 =", set()),
]


def test_an_answer_without_text_keeps_no_stop(tmp_path: Path) -> None:
    path = tmp_path / "own.cassette.jsonl"
    for text, judged_so in (("2 + 2 ", Verdict.PASS), (None, None)):
        found(tmp_path, exchange(body(text, thinking="So."), kind=JSON, stream=False, stop=["="]))
        report = check_paths([path], trust=[path])
        assert report.verdicts.get("scenario/stops-kept") is judged_so


@pytest.mark.parametrize(("asked", "text", "rules"), STOPS)
def test_text_ends_before_a_stop_sequence(
    asked: dict[str, Any], text: str, rules: set[str], tmp_path: Path
) -> None:
    assert judged(tmp_path, body(text), **asked) == rules
    assert judged(tmp_path, body("4", thinking="2 + 2 = 4"), **asked) == set()


SCHEMA: dict[str, Any] = {"type": "object", "required": ["answer"]}
BY_SCHEMA: dict[str, Any] = {"type": "json_schema", "json_schema": {"name": "s", "schema": SCHEMA}}
FORMATS: list[tuple[Any, str, bool]] = [
    (BY_SCHEMA, '{"answer": "4"}', True),
    (BY_SCHEMA, ' {"answer": "4"}\n', True),
    (BY_SCHEMA, '{"sum": "4"}', False),
    (BY_SCHEMA, "4", False),
    (BY_SCHEMA, "It is 4.", False),
    (BY_SCHEMA, '<think>2 and 2</think>{"answer": "4"}', False),
    (BY_SCHEMA, '```json\n{"answer": "4"}\n```', False),
    ({"type": "json_object"}, '{"sum": "4"}', True),
    ({"type": "json_object"}, "It is 4.", False),
    ({"type": "text"}, "It is 4.", True),
]


@pytest.mark.parametrize(("asked", "text", "is_right"), FORMATS)
def test_requested_json_comes_alone(asked: Any, text: str, is_right: bool, tmp_path: Path) -> None:
    answer = body(text, thinking="2 and 2")
    expected = set() if is_right else {"json-as-asked"}
    assert judged(tmp_path, answer, response_format=asked) - {"no-markers"} == expected


def test_an_answer_that_calls_or_was_cut_may_hold_no_json(tmp_path: Path) -> None:
    assert judged(tmp_path, body("So:", called=True), response_format=BY_SCHEMA) == set()
    cut = body('{"answer": ').replace('"stop"', '"length"')
    assert judged(tmp_path, cut, response_format=BY_SCHEMA) == set()


def test_an_answer_that_stopped_in_its_thinking_may_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "own.cassette.jsonl"
    answer = body("", thinking="2 + 2 ")
    found(tmp_path, exchange(answer, kind=JSON, stream=False, stop=["="]))
    assert _answer_said(path) == "UNTESTABLE"
    found(tmp_path, exchange(answer, kind=JSON, stream=False))
    assert _answer_said(path) == "FAIL"


def test_a_stop_sequence_excuses_an_answer_that_another_tool_recorded(tmp_path: Path) -> None:
    request = {"url": "https://a.example/v1/chat/completions", "method": "POST"}
    answer = {"content": {"mimeType": JSON, "text": body("", thinking="2 + 2 ")}, "status": 200}
    for stops, verdict in ((["="], "UNTESTABLE"), ([], "FAIL")):
        asked = json.dumps({"model": "m", "messages": [], "stop": stops})
        entry = {"request": {**request, "postData": {"text": asked}}, "response": answer}
        path = tmp_path / "a.har"
        path.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
        assert _answer_said(path) == verdict


def _answer_said(path: Path) -> str:
    (result,) = check_paths([path], trust=[path]).streams
    return result.verdicts["thinking/answer/said"].name


def thought(count: int, written: int = 16) -> dict[str, Any]:
    return {**counted(5, written), "completion_tokens_details": {"reasoning_tokens": count}}


COUNTS: list[tuple[str, int, set[str]]] = [
    ("Two and two.", 16, {"text-counted"}),
    ("Two and two.", 15, set()),
    ("", 16, {"text-counted"}),
]


@pytest.mark.parametrize(("thinking", "count", "rules"), COUNTS)
def test_all_text_is_counted(thinking: str, count: int, rules: set[str], tmp_path: Path) -> None:
    assert judged(tmp_path, body(thinking=thinking, usage=thought(count))) == rules


def test_thinking_that_is_counted_apart_may_be_as_much_as_the_text(tmp_path: Path) -> None:
    apart = {**thought(16), "total_tokens": 37}
    assert judged(tmp_path, body(thinking="Two.", usage=apart)) == set()


@pytest.mark.parametrize(("count", "rules"), [(0, set()), (3, {"off-uncounted"})])
def test_disabled_thinking_is_not_counted(count: int, rules: set[str], tmp_path: Path) -> None:
    answer = body(usage=thought(count))
    assert judged(tmp_path, answer, reasoning_effort="none") == rules
    assert judged(tmp_path, answer, reasoning_effort="low") == set()


def test_a_body_has_usage_where_streams_have_it(tmp_path: Path) -> None:
    streamed = exchange(stream())
    bare = exchange(body(), kind=JSON, stream=False, role="second")
    full = exchange(body(usage=counted(6, 7)), kind=JSON, stream=False, role="second")
    uncounted = exchange(stream(read=0, written=0))
    assert "usage-as-streamed" in found(tmp_path, streamed, bare)
    assert "usage-as-streamed" not in found(tmp_path, streamed, full)
    assert "usage-as-streamed" not in found(tmp_path, uncounted, bare)


def test_body_counts_the_thinking_that_it_shows(
    tmp_path: Path,
) -> None:
    own, of_thinking = (json.dumps(each) for each in (counted(5, 16), thought(9)))
    streamed = exchange(stream().replace(own, of_thinking))
    plain = counted(6, 7)

    def answered(thinking: str, usage: dict[str, Any]) -> list[dict[str, Any]]:
        answer = body(thinking=thinking, usage=usage)
        return exchange(answer, kind=JSON, stream=False, role="second")

    rule = "usage-as-streamed"
    assert rule in found(tmp_path, streamed, answered("Two.", plain))
    assert rule not in found(tmp_path, streamed, answered("Two.", thought(3)))
    assert rule not in found(tmp_path, streamed, answered("", plain))  # nothing shows
    assert rule not in found(tmp_path, exchange(stream()), answered("Two.", plain))


SHOWN: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    ({"reasoning_effort": "low"}, {"reasoning_effort": "low"}, True),
    ({"reasoning_effort": "low"}, {}, False),
    ({"reasoning_effort": "low"}, {"reasoning_effort": "none"}, False),
]


@pytest.mark.parametrize(("first", "second", "is_found"), SHOWN)
def test_counted_thinking_shows_where_it_showed_before(
    first: dict[str, Any], second: dict[str, Any], *, is_found: bool, tmp_path: Path
) -> None:
    def asked(said: str, role: str, wish: dict[str, Any]) -> list[dict[str, Any]]:
        return exchange(said, kind=JSON, stream=False, role=role, **wish)

    shown = asked(body(thinking="Two.", usage=thought(3)), "first", first)
    hidden = asked(body(usage={**thought(3), "prompt_tokens": 9}), "second", second)
    assert ("thinking-shown" in found(tmp_path, shown, hidden)) is is_found
    silent = asked(body(usage=thought(3)), "first", first)
    assert "thinking-shown" not in found(tmp_path, silent, hidden)
    unopted = exchange(body(usage=thought(3)), kind=JSON, stream=False, role="second", **second)
    shown[0]["request"]["headers"] = [["x-include-thinking", "true"]]
    assert "thinking-shown" not in found(tmp_path, shown, unopted)
    uncounted = asked(body(usage=thought(0)), "second", second)
    assert "thinking-shown" not in found(tmp_path, shown, uncounted)


TYPES: list[tuple[str, set[str]]] = [
    ("application/json", set()),
    ("application/json; charset=UTF-8", set()),
    ("application/vnd.own+json", set()),
    ("text/html", {"body-typed"}),
    ("application/json; charset=iso-8859-1", {"body-typed"}),
]


@pytest.mark.parametrize(("kind", "rules"), TYPES)
def test_a_body_says_that_it_is_json_in_utf8(kind: str, rules: set[str], tmp_path: Path) -> None:
    assert judged(tmp_path, body(), kind=kind) == rules
