"""What the played model says is what it was asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import jsonschema_rs
import pytest

from conformance.core.events import Chunk, Exchange, Response
from conformance.dialects import ENDPOINTS, get
from conformance.dialects.base import Reading
from conformance.dialects.personas import named_persona
from conformance.judging.transcript import Transcript, read_transcript
from conformance.recordings.api import check_chunks
from conformance.targets.played_answers import scripted_answer

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "score": {"type": "integer", "minimum": 3, "maximum": 9},
        "why": {"type": "string"},
        "route": {"enum": ["flash", "pro"]},
        "steps": {"type": "array", "items": {"$ref": "#/$defs/step"}, "minItems": 2},
    },
    "required": ["score", "why", "route", "steps"],
    "additionalProperties": False,
    "$defs": {"step": {"type": "object", "properties": {"at": {"type": ["null", "number"]}}}},
}
OPEN_SCHEMA: Final = {"type": "OBJECT", "properties": {"score": {"type": "INTEGER"}}}
JSON_SCHEMA: Final = {"type": "json_schema", "json_schema": {"name": "s", "schema": SCHEMA}}
WISHES: Final[Mapping[str, Mapping[str, Any]]] = {
    "openai.chat": {"response_format": JSON_SCHEMA},
    "mistral.chat": {"response_format": JSON_SCHEMA},
    "openai.responses": {"text": {"format": {"type": "json_schema", "schema": SCHEMA}}},
    "anthropic.messages": {
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    },
    "gemini.generate": {"generationConfig": {"responseJsonSchema": SCHEMA}},
    "gemini.interactions": {"response_format": SCHEMA},
    "ollama.chat": {"format": SCHEMA},
    "ollama.generate": {"format": SCHEMA},
    "sglang.generate": {"sampling_params": {"json_schema": json.dumps(SCHEMA)}},
    "huggingface.tgi": {"parameters": {"grammar": {"type": "json", "value": SCHEMA}}},
    "cohere.v2": {"response_format": {"type": "json_object", "json_schema": SCHEMA}},
    "bedrock.converse": {
        "outputConfig": {
            "textFormat": {
                "type": "json_schema",
                "structure": {"jsonSchema": {"name": "s", "schema": json.dumps(SCHEMA)}},
            }
        }
    },
}
SCORER: Final = {"name": "score", "parameters": SCHEMA}
CHAT_TOOLS: Final = [{"type": "function", "function": SCORER}]
CALLS: Final[Mapping[str, Mapping[str, Any]]] = {
    "openai.chat": {
        "tools": CHAT_TOOLS,
        "tool_choice": {"type": "function", "function": {"name": "score"}},
    },
    "openai.responses": {
        "tools": [{"type": "function", **SCORER}],
        "tool_choice": {"type": "function", "name": "score"},
    },
    "anthropic.messages": {
        "tools": [{"name": "score", "input_schema": SCHEMA}],
        "tool_choice": {"type": "tool", "name": "score"},
    },
    "gemini.generate": {
        "tools": [{"functionDeclarations": [SCORER]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["score"]}},
    },
    "bedrock.converse": {
        "toolConfig": {
            "tools": [{"toolSpec": {"name": "score", "inputSchema": {"json": SCHEMA}}}],
            "toolChoice": {"tool": {"name": "score"}},
        }
    },
    "cohere.v2": {"tools": CHAT_TOOLS, "tool_choice": "REQUIRED"},
    "mistral.chat": {"tools": CHAT_TOOLS, "tool_choice": "any"},
}
STREAMS: Final = pytest.mark.parametrize("stream", [True, False], ids=["stream", "body"])


def answered(dialect: str, body: Mapping[str, Any], word: str = "answer") -> Transcript:
    answer = scripted_answer(word, dialect, 7, body)
    head = Response(answer.status, "1.1", (("content-type", answer.content_type),))
    exchange = Exchange(dialect=dialect, response=head, chunks=tuple(map(Chunk, answer.chunks)))
    found = check_chunks(
        answer.chunks, dialect=dialect, profile="strict", request=dict(body)
    ).findings
    assert [f"{f.rule}: {f.message}" for f in found] == []
    return read_transcript(exchange, get(dialect), Reading(), keep="wire")


def test_every_api_that_takes_a_schema_is_asked_for_json() -> None:
    scripts = {name: get(name).script for name in ENDPOINTS}
    assert set(WISHES) == {name for name, each in scripts.items() if each and each.wishes.schemas}


@STREAMS
@pytest.mark.parametrize("dialect", WISHES)
def test_json_by_a_schema_fits_it(dialect: str, *, stream: bool) -> None:
    answer = answered(dialect, {**WISHES[dialect], "stream": stream})
    assert jsonschema_rs.is_valid(dict(SCHEMA), json.loads("".join(answer.text)))


@pytest.mark.parametrize(
    "wish",
    [
        {"generationConfig": {"responseSchema": OPEN_SCHEMA}},
        {"generationConfig": {"responseMimeType": "application/json"}},
    ],
)
def test_json_is_answered_in_the_spelling_of_the_api(wish: Mapping[str, Any]) -> None:
    value = json.loads("".join(answered("gemini.generate", {**wish, "stream": True}).text))
    assert isinstance(value, dict)


@STREAMS
@pytest.mark.parametrize("dialect", CALLS)
def test_the_function_that_must_be_called_is(dialect: str, *, stream: bool) -> None:
    answer = answered(dialect, {**CALLS[dialect], "stream": stream})
    (call,) = answer.tools
    assert call["name"] == "score"
    assert jsonschema_rs.is_valid(dict(SCHEMA), json.loads(call["arguments"]))


PROMPTED: Final = {"ollama.generate", "sglang.generate", "huggingface.tgi"}
WITH_TOOLS: Final = tuple(name for name in ENDPOINTS if name not in PROMPTED)
EXPRESSIONS: Final = [{"expression": "2 + 3"}, {"expression": "4 + 5"}]


@STREAMS
@pytest.mark.parametrize("dialect", WITH_TOOLS)
def test_two_calls_at_once_are_two_in_every_api(dialect: str, *, stream: bool) -> None:
    answer = answered(dialect, {"stream": stream}, "two-calls")
    arguments = (call["arguments"] for call in answer.tools)
    assert [a if isinstance(a, dict) else json.loads(a) for a in arguments] == EXPRESSIONS
    named = [call["id"] for call in answer.tools if call.get("id")]
    assert len(set(named)) == len(named)


@STREAMS
@pytest.mark.parametrize(
    ("dialect", "wish"),
    [
        ("openai.chat", {"parallel_tool_calls": False}),
        ("openai.responses", {"parallel_tool_calls": False}),
        ("mistral.chat", {"parallel_tool_calls": False}),
        (
            "anthropic.messages",
            {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        ),
    ],
)
def test_calls_come_one_at_a_time(dialect: str, wish: Mapping[str, Any], *, stream: bool) -> None:
    assert len(answered(dialect, {**wish, "stream": stream}, "two-calls").tools) == 1


def test_no_tool_is_called_where_none_may_be() -> None:
    asked = {"tools": CHAT_TOOLS, "tool_choice": "none", "stream": True}
    answer = answered("openai.chat", asked, "tools")
    assert not answer.tools
    assert "Answer 7" in "".join(answer.text)


def test_a_text_ends_where_the_request_says() -> None:
    answer = answered("openai.chat", {"stop": [": "], "stream": True})
    assert "".join(answer.text) == "Answer 7"


@STREAMS
@pytest.mark.parametrize("word", ["answer", "tools"])
@pytest.mark.parametrize(
    ("dialect", "switch"),
    [
        ("openai.chat", {"reasoning_effort": "none"}),
        ("openai.chat", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("openai.responses", {"reasoning": {"effort": "none"}}),
        ("anthropic.messages", {"thinking": {"type": "disabled"}}),
        ("gemini.generate", {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}),
        ("ollama.chat", {"think": False}),
    ],
)
def test_no_thinking_comes_where_a_request_turns_it_off(
    dialect: str, switch: Mapping[str, Any], word: str, *, stream: bool
) -> None:
    answer = answered(dialect, {**switch, "stream": stream}, word)
    assert not answer.thinking
    assert answer.text or answer.tools
    assert not answer.usage.get("reasoning")


@STREAMS
def test_thinking_comes_encrypted_where_the_request_includes_that(*, stream: bool) -> None:
    asked = {"include": ["reasoning.encrypted_content"], "stream": stream}
    assert answered("openai.responses", asked).opaque
    assert not answered("openai.responses", {"stream": stream}).opaque


@pytest.mark.parametrize(
    ("model", "summary", "message"),
    [
        ("gpt-5.4", None, ""),
        ("openai/o3", None, ""),
        ("gpt-5.4", "auto", "A sum, summary 7: done."),
        ("gpt-oss-120b", None, "Two and two, thought 7: is 4."),
        ("m", None, "Two and two, thought 7: is 4."),
    ],
)
def test_openai_models_show_no_raw_thinking(model: str, summary: str | None, message: str) -> None:
    reasoning = {"reasoning": {"summary": summary}} if summary else {}
    for streams in (True, False):
        asked = {"model": model, "input": "Hi", "stream": streams, **reasoning}
        answer = answered("openai.responses", asked)
        assert "".join(answer.thinking) == message
        assert "".join(answer.text) == "Answer 7: **4**, no more."


@STREAMS
def test_openai_counts_thinking_in_chat_and_shows_none(*, stream: bool) -> None:
    persona = named_persona("openai")
    asked = {"stream": stream, "stream_options": {"include_usage": True}}
    answer = scripted_answer("answer", "openai.chat", 7, asked, persona=persona)
    body = b"".join(answer.chunks)
    assert b"thought" not in body
    assert b'"reasoning_tokens": 9' in body
    assert b"Answer" in body


@STREAMS
@pytest.mark.parametrize("word", ["length", "no-finish", "cut", "error"])
@pytest.mark.parametrize("dialect", CALLS)
def test_where_a_call_is_demanded_no_text_comes_however_it_ends(
    dialect: str, word: str, *, stream: bool
) -> None:
    said = scripted_answer(word, dialect, 7, {**CALLS[dialect], "stream": stream})
    head = Response(said.status, "1.1", (("content-type", said.content_type),))
    exchange = Exchange(dialect=dialect, response=head, chunks=tuple(map(Chunk, said.chunks)))
    answer = read_transcript(exchange, get(dialect), Reading())
    assert answer.text == []
    if word == "length":
        assert answer.finishes == ["length"]
    if word in ("length", "no-finish"):
        assert [call["name"] for call in answer.tools] == ["score"]
