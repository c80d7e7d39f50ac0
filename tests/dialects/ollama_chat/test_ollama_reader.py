"""Lines and bodies of Ollama's chat: what they give, and what they end with."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance import dialects
from conformance.core.events import Frame, Request
from conformance.core.reading import Reading
from conformance.dialects.ollama_knobs import OllamaKnobs
from conformance.profiles.lookup import find
from tests.dialects.payloads import typed_payloads

LAST = {"done": True, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 9}


def line(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", **message}, "done": False, **more}


def read(*payloads: Any, kind: Any = "line", end: Any = "eof", **reading: Any) -> list[Any]:
    return typed_payloads("ollama.chat", *payloads, kind=kind, end=end, reading=Reading(**reading))


def semantic(events: list[Any], *types: str) -> list[Any]:
    return [e for e in events if isinstance(e, tuple) and (not types or e[0] in types)]


def test_thinking_then_text_and_the_last_line() -> None:
    events = read(line({"content": "", "thinking": "a"}), line({"content": "b"}), line({}, **LAST))
    assert [e for e in events if isinstance(e, str)] == [
        "ollama.chunk",
        "ollama.chunk",
        "ollama.last",
    ]
    assert [e[0] for e in semantic(events)] == [
        *("message.start", "thinking.start", "thinking.delta"),
        *("thinking.end", "text.start", "text.delta", "text.end", "finish", "usage", "done"),
    ]
    assert semantic(events, "usage") == [("usage", {"choice": 0, "input": 7, "output": 9})]


def test_a_call_comes_whole_with_its_arguments_as_text() -> None:
    call = {"function": {"index": 0, "name": "f", "arguments": {"a": 1}}}
    events = read(line({"content": "", "tool_calls": [call, call]}), line({}, **LAST))
    ends = semantic(events, "tool.end")
    assert [(e["index"], e["name"], json.loads(e["arguments"])) for _, e in ends] == [
        (0, "f", {"a": 1}),
        (1, "f", {"a": 1}),
    ]


def test_a_body_is_done_when_it_is_there() -> None:
    events = read(line({"content": "b"}), kind="body")
    assert semantic(events, "done", "cut") == [("done", {"choice": 0, "explicit": False})]


def test_an_end_without_a_last_line_is_a_cut_also_after_an_error() -> None:
    events = read(line({"content": "b"}), {"error": "no more"})
    assert [e[0] for e in semantic(events, "error", "cut", "done")] == ["error", "cut"]
    assert semantic(events, "error")[0][1]["message"] == "no more"


def test_a_null_or_empty_text_opens_nothing() -> None:
    events = read(line({"content": "", "thinking": ""}), line({"content": None, "thinking": None}))
    assert semantic(events, "thinking.start", "text.start") == []


def test_markers_in_content_are_thinking_where_the_profile_names_them() -> None:
    events = read(
        line({"content": "<th"}),
        line({"content": "ink>a</think>b"}),
        line({}, **LAST),
        markers=(("<think>", "</think>"),),
    )
    deltas = semantic(events, "thinking.delta", "text.delta")
    assert [(kind, data["text"]) for kind, data in deltas] == [
        ("thinking.delta", "a"),
        ("text.delta", "b"),
    ]


@pytest.mark.parametrize("payload", [{"a": 1}, [1], dialects.NOT_JSON])
def test_what_is_no_line_of_an_answer_is_unknown(payload: Any) -> None:
    reader = dialects.get("ollama.chat").reader(Reading())
    (event,) = reader.read(Frame("line", "message", "x", "", 0), payload, 1)
    assert event.type == "ollama.unknown"


def test_a_list_of_models_is_neither_done_nor_cut() -> None:
    entry = {"name": "m:latest", "model": "m:latest"}
    assert read({"models": [entry]}, kind="body") == ["models", "models.entry"]
    assert dialects.recognise(Frame("body", "", "", "", 0), {"models": [entry]}) == "ollama.chat"


def test_it_streams_unless_switched_off() -> None:
    dialect = dialects.get("ollama.chat")
    assert dialect.expected_framing(Request(json={"model": "m"})) == "lines"
    assert dialect.expected_framing(Request(json={"model": "m", "stream": False})) == "body"
    assert dialects.dialect_at("/api/chat") == "ollama.chat"
    assert dialects.asks_for_stream("/api/chat", {"model": "m"})


def test_no_call_is_left_out_however_many_there_are() -> None:
    call = {"function": {"name": "add", "arguments": {}}}
    ends = semantic(read(*[line({"tool_calls": [call] * 50})] * 100), "tool.end")
    assert [data["index"] for _, data in ends] == list(range(5000))


COUNTS = {"done": True, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 9}
THINK = {"content": "", "thinking": "a"}
TEXT = {"content": "b"}


def seen(*messages: dict[str, Any], think: Any = True, **last: Any) -> dict[str, Any]:
    reader, knobs = dialects.get("ollama.chat").reader(Reading()), OllamaKnobs()
    events = reader.request(Request(json={"messages": [], "think": think}))
    lines = [{"message": message, "done": False} for message in messages]
    for number, line in enumerate([*lines, {"message": {"content": ""}, **last}], 1):
        events += reader.read(Frame("line", "message", "", "", 0), line, number)
    for event in events:
        knobs.see(event)
    return knobs.values(framed=True)


@pytest.mark.parametrize(
    ("knobs", "shown"),
    [
        (
            seen(THINK, TEXT, **COUNTS),
            {"interleaved": False, "combined_chunk": False, "prompt_count": "counted"},
        ),
        (seen({**THINK, **TEXT}, done=False), {"interleaved": False, "combined_chunk": True}),
        (seen(TEXT, THINK, done=False), {"interleaved": True, "combined_chunk": False}),
        (seen(THINK, done=True, eval_count=9), {"prompt_count": "optional"}),
        (seen(TEXT, think=False, done=True), {"think_off": "obeyed"}),
        (seen(THINK, think=False, done=True), {"think_off": "ignored"}),
        (seen(done=True), {}),
    ],
)
def test_a_stream_shows_knobs(knobs: dict[str, Any], shown: dict[str, Any]) -> None:
    assert knobs == shown
    declared = find("strict", "ollama.chat").declared
    assert all(value in declared[name].values for name, value in knobs.items())


def test_a_whole_message_is_what_a_client_keeps() -> None:
    cases = dialects.get("ollama.chat").client
    assert cases is not None
    assert cases.whole_message({"message": TEXT}) == TEXT
    assert cases.whole_message({"error": "no"}) is None
