"""Calls held against the tools of their request, however a dialect writes these."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from conformance.core.events import Event, Request
from conformance.dialects import get
from conformance.judging.offered_tools import OfferedTools
from conformance.recordings.api import check_chunks
from conformance.rules.verdicts import Verdict

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "parameters": SCHEMA}
# Dialect -> the tools of a request.
OFFERS: dict[str, dict[str, Any]] = {
    "openai.chat": {"tools": [{"type": "function", "function": FUNCTION}]},
    "mistral.chat": {"tools": [{"type": "function", "function": FUNCTION}]},
    "cohere.v2": {"tools": [{"type": "function", "function": FUNCTION}]},
    "ollama.chat": {"tools": [{"type": "function", "function": FUNCTION}]},
    "openai.responses": {"tools": [{"type": "function", **FUNCTION}]},
    "gemini.interactions": {"tools": [{"type": "function", **FUNCTION}]},
    "anthropic.messages": {"tools": [{"name": "get_weather", "input_schema": SCHEMA}]},
    "gemini.generate": {"tools": [{"functionDeclarations": [FUNCTION]}]},
    "bedrock.converse": {
        "toolConfig": {
            "tools": [{"toolSpec": {"name": "get_weather", "inputSchema": {"json": SCHEMA}}}]
        }
    },
}


def offered(body: Mapping[str, Any], dialect: str = "openai.chat") -> OfferedTools | None:
    return OfferedTools.of(get(dialect), Request("POST", "/", (), dict(body)))


def fit(arguments: str, name: str = "get_weather", **more: Any) -> str | None:
    tools = offered({**OFFERS["openai.chat"], **more})
    assert tools is not None
    return tools.fit({"name": name, "arguments": arguments})


@pytest.mark.parametrize("dialect", OFFERS)
def test_every_dialect_offers_tools_in_its_own_form(dialect: str) -> None:
    tools = offered(OFFERS[dialect], dialect)
    assert tools is not None
    assert tools.fit({"name": "get_weather", "arguments": '{"city":"Oslo"}'}) == "fits"
    assert (
        tools.fit({"name": "get_weather", "arguments": ""}) == "nothing: get_weather requires city"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('{"city":"Oslo"}', "fits"),
        (" ", "nothing: get_weather requires city"),
        ('"{}"', "nothing: get_weather takes an object"),
        ("null", "nothing: get_weather takes an object"),
        ("{}", "unfit: get_weather: city is missing"),
        ('{"city":7}', "unfit: get_weather: city is a number, not string"),
        ('{"city":', None),
    ],
)
def test_arguments_are_distinguished_by_what_is_wrong(arguments: str, words: str | None) -> None:
    assert fit(arguments) == words


def test_another_name_is_none_unless_a_tool_is_not_known_by_its_name() -> None:
    assert fit("{}", "weather") == "unknown: no tool weather was offered"
    assert fit("{}", "get_weather<|channel|>") is None, "markers are another rule's business"
    hosted = [*OFFERS["openai.chat"]["tools"], {"type": "mcp", "server_label": "docs"}]
    assert fit("{}", "weather", tools=hosted) is None


@pytest.mark.parametrize("body", [{}, {"tools": []}, {"tools": "none"}, {"tools": [7, None]}])
def test_a_request_without_tools_asks_for_nothing(body: Mapping[str, Any]) -> None:
    assert offered(body) is None


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("parameters", "fits nothing"),
        ("input_schema", "unfit: get_weather: city is no key of the tool"),
    ],
)
def test_messages_read_a_schema_by_its_own_key_alone(key: str, words: str) -> None:
    nothing = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    tools = offered({"tools": [{"name": "get_weather", key: nothing}]}, "anthropic.messages")
    assert tools is not None
    assert tools.fit({"name": "get_weather", "arguments": '{"city":"Oslo"}'}) == words


def test_calls_are_counted_but_for_those_that_the_server_carries_out() -> None:
    tools = offered(OFFERS["openai.chat"])
    assert tools is not None
    read: list[Event] = []
    show = tools.noting(read.append)
    for more in ({}, {"hosted": True}, {"name": "weather"}):
        call = {"name": "get_weather", "arguments": '{"city":"Oslo"}', **more}
        show(Event("tool.end", call, 1, "semantic"))
    assert [event.data.get("fit", "")[:7] for event in read] == ["fits", "", "unknown"]
    assert (tools.calls, tools.fitting) == (2, 1)


def _called(arguments: str, reason: str) -> bytes:
    call = {"index": 0, "id": "c", "type": "function"}
    function = {"name": "get_weather", "arguments": arguments}
    delta = {"role": "assistant", "tool_calls": [{**call, "function": function}]}
    chunks = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
    ]
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    lines = [f"data: {json.dumps({**head, **each})}\n\n" for each in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


@pytest.mark.parametrize(
    ("reason", "verdict"), [("tool_calls", Verdict.FAIL), ("length", Verdict.VACUOUS)]
)
def test_who_is_cut_off_by_a_limit_owes_no_arguments(reason: str, verdict: Verdict) -> None:
    request = {"stream": True, **OFFERS["openai.chat"]}
    report = check_chunks([_called("", reason)], dialect="openai.chat", request=request)
    assert report.verdicts["wire/calls/arguments-there"] is verdict
    (stream,) = report.streams
    assert (stream.calls, stream.fitting_calls) == (1, 0)
