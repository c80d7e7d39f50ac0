"""What Langfuse and Logfire export is read as calls of a model, with thinking and history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cassette import open_recording
from conformance.dialects.otel_genai.kept_messages import as_messages
from conformance.recordings.check import check_paths

Fields = dict[str, Any]
QUESTION: Final = {"role": "user", "content": "When?"}
FUNCTION: Final = {"name": "look", "arguments": '{"at": 1}'}
CALLED: Final = {
    "role": "assistant",
    "content": None,
    "reasoning_content": "I look it up.",
    "tool_calls": [{"id": "call_1", "type": "function", "function": FUNCTION}],
}
RESULT: Final = {"role": "tool", "tool_call_id": "call_1", "content": "nine"}
ANSWERED: Final = {"role": "assistant", "content": "At nine.", "reasoning": "Nine."}
LOST: Final = "history/otel/kept-with-calls"


def observation(number: int, given: Any, answer: Any, **more: Any) -> Fields:
    """As Langfuse's API has it."""
    return {
        "id": f"o-{number}",
        "traceId": "t",
        "type": "GENERATION",
        "startTime": f"2026-11-29T06:58:2{number}.130Z",
        "model": "m",
        "input": given,
        "output": answer,
        "level": "DEFAULT",
        "usageDetails": {"input": 9, "output": 4, "output_reasoning_tokens": 3, "total": 16},
        **more,
    }


def span(number: int, given: Any, said: Any) -> Fields:
    """As a row of Logfire's query API has it, by its first way of spelling."""
    usage = {"prompt_tokens": 9, "completion_tokens": 7}
    return {
        "span_id": f"{number:016x}",
        "start_timestamp": f"2026-11-29T06:58:2{number}.130Z",
        "attributes": {
            "request_data": {"model": "m", "messages": given},
            "response_data": {"message": said, "usage": usage},
        },
    }


def in_texts(kept: Fields) -> Fields:
    return {k: json.dumps(v) if k in ("input", "output") else v for k, v in kept.items()}


AGAIN: Final = [QUESTION, CALLED, RESULT]
WITHOUT: Final = [QUESTION, {**CALLED, "reasoning_content": ""}, RESULT]


def langfuse(history: list[Any]) -> list[Fields]:
    return [observation(1, [QUESTION], CALLED), observation(2, history, ANSWERED)]


def logfire(history: list[Any]) -> list[Fields]:
    return [span(1, [QUESTION], CALLED), span(2, history, ANSWERED)]


def sdk_span(kept: Fields) -> Fields:
    """As the SDK of Langfuse 5.0.4 writes it: attributes, what is no text as JSON in one."""
    names = {"model": "model.name", "usageDetails": "usage_details"}
    named = {
        f"langfuse.observation.{names.get(key, key)}": (
            each if isinstance(each, str) else json.dumps(each)
        )
        for key, each in kept.items()
    }
    attributes = {**named, "langfuse.observation.type": "generation"}
    return {"name": "OpenAI-generation", "start_time": kept["startTime"], "attributes": attributes}


SHAPES: Final[dict[str, Any]] = {
    "langfuse spans": lambda of: [sdk_span(each) for each in langfuse(of)],
    "langfuse page": lambda of: {"data": langfuse(of), "meta": {"cursor": None}},
    "langfuse trace": lambda of: {"id": "t", "observations": [{"type": "SPAN"}, *langfuse(of)]},
    "langfuse texts": lambda of: [in_texts(each) for each in langfuse(of)],
    "langfuse tools": lambda of: [
        observation(1, {"tools": [], "messages": [QUESTION]}, CALLED),
        observation(2, {"tools": [], "messages": of}, ANSWERED),
    ],
    "logfire rows": lambda of: {"rows": logfire(of)},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_calls_are_read_with_their_history(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(SHAPES[shape](AGAIN)), "utf-8")
    first, second = open_recording(path).exchanges
    assert first.dialect in (None, "otel.genai")
    assert second.request is not None
    report = check_paths([path])
    assert [stream.dialect for stream in report.streams] == ["otel.genai"] * 2
    assert not report.findings
    path.write_text(json.dumps(SHAPES[shape](WITHOUT)), "utf-8")
    assert [each.rule for each in check_paths([path]).findings] == [LOST]


def test_what_holds_no_answer_is_no_call(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    embedding = span(3, [], None)
    embedding["attributes"]["response_data"] = {"usage": {"prompt_tokens": 3}}
    failed = observation(4, [QUESTION], None, level="ERROR", statusMessage="overloaded")
    rows = [*langfuse(AGAIN), embedding, observation(3, [QUESTION], None), failed]
    path.write_text(json.dumps(rows), "utf-8")
    assert len(open_recording(path).exchanges) == 3


MESSAGES: Final[dict[str, tuple[Any, list[str]]]] = {
    "items of Responses": (
        [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "S."}]},
            {"type": "message", "content": [{"type": "output_text", "text": "T."}]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "1"},
        ],
        ["reasoning", "text", "tool_call", "tool_call_response"],
    ),
    "blocks of Messages": (
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "T.", "signature": "s"},
                {"type": "tool_use", "id": "t", "name": "f", "input": {}},
            ],
        },
        ["reasoning", "tool_call"],
    ),
    "a text": ("At nine.", ["text"]),
    "nothing known": ([{"content": 7}, 3, None], []),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages_of_every_api_have_parts(case: str) -> None:
    value, kinds = MESSAGES[case]
    assert [part["type"] for each in as_messages(value) for part in each["parts"]] == kinds
