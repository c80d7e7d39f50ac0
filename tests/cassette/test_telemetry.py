"""Files of OpenTelemetry: calls are found in every shape, and what is no call is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cassette import discover, open_recording
from conformance.core.errors import CassetteError
from conformance.recordings.check import check_paths

Fields = dict[str, Any]
QUESTION: Final = {"role": "user", "parts": [{"type": "text", "content": "When?"}]}
CALL: Final = {"type": "tool_call", "id": "call_1", "name": "look", "arguments": {"at": 1}}
CALLED: Final = {
    "role": "assistant",
    "parts": [{"type": "reasoning", "content": "I look it up."}, CALL],
    "finish_reason": "tool_call",
}
RESULT: Final = {
    "role": "tool",
    "parts": [{"type": "tool_call_response", "id": "call_1", "response": "nine"}],
}
ANSWERED: Final = {
    "role": "assistant",
    "parts": [{"type": "reasoning", "content": "Nine."}, {"type": "text", "content": "At nine."}],
    "finish_reason": "stop",
}


def attributes(given: list[Any], answer: Any, **more: Any) -> Fields:
    named = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": given,
        "gen_ai.output.messages": answer,
        "gen_ai.usage.input_tokens": 9,
        "gen_ai.usage.output_tokens": 7,
        "server.address": "10.0.0.1",
    }
    return {**named, **more}


FIRST: Final = attributes([QUESTION], [CALLED])
SECOND: Final = attributes([QUESTION, CALLED, RESULT], [ANSWERED])
LOST: Final = attributes([QUESTION, {**CALLED, "parts": [CALL]}, RESULT], [ANSWERED])


def otlp(value: Any) -> Fields:
    """A value as OTLP writes it in JSON."""
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp(each) for each in value]}}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"stringValue": value}


def pairs(fields: Fields) -> list[Fields]:
    return [{"key": key, "value": otlp(value)} for key, value in fields.items()]


def in_texts(fields: Fields) -> Fields:
    """Messages as spans have them: JSON in a text."""
    return {key: json.dumps(v) if isinstance(v, list) else v for key, v in fields.items()}


def span(fields: Fields, number: int, **more: Any) -> Fields:
    named = {"spanId": f"{number:016x}", "startTimeUnixNano": str(1_000 + number)}
    return {**named, "attributes": pairs(fields), **more}


def traced(*spans: Fields) -> Fields:
    return {"resourceSpans": [{"scopeSpans": [{"spans": [*spans]}]}]}


def logged(*records: Fields) -> Fields:
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [*records]}]}]}


SHAPES: Final[dict[str, list[Any]]] = {
    "one document": [traced(span(FIRST, 1), span(SECOND, 2))],
    "a line each, not in order": [traced(span(SECOND, 2)), traced(span(FIRST, 1))],
    "texts in spans": [traced(span(in_texts(FIRST), 1), span(in_texts(SECOND), 2))],
    "events": [logged(span(FIRST, 1), span(SECOND, 2))],
    "flat": [
        {"name": "chat", "attributes": FIRST},
        {"name": "chat", "attributes": in_texts(SECOND)},
    ],
    "bare": [FIRST, SECOND],
    "array": [[{"attributes": FIRST}, {"attributes": SECOND}]],
    "wrapped lists": [
        {"attributes": {**FIRST, "gen_ai.output.messages": json.dumps({"messages": [CALLED]})}},
        {"attributes": SECOND},
    ],
}


def written(folder: Path, values: list[Any], indent: int | None = None) -> Path:
    path = folder / "calls.json"
    path.write_text("\n".join(json.dumps(each, indent=indent) for each in values), encoding="utf-8")
    return path


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_calls_are_found_in_every_shape(tmp_path: Path, shape: str, indent: int | None) -> None:
    path = written(tmp_path, SHAPES[shape], indent)
    recording = open_recording(path)
    assert recording.kind == "otel"
    assert discover(tmp_path) == (path,)
    bodies = [json.loads(each.body) for each in recording.exchanges]
    assert [body["output_messages"] for body in bodies] == [[CALLED], [ANSWERED]]
    asked = [each.request.json for each in recording.exchanges if each.request]
    assert [len(each["input_messages"]) for each in asked] == [1, 3]
    assert "server_address" not in asked[0]
    assert bodies[0]["usage_output_tokens"] == 7
    report = check_paths([path])
    assert not [each for stream in report.streams for each in stream.findings]


def test_reasoning_that_is_not_in_the_next_call_is_found(tmp_path: Path) -> None:
    report = check_paths([written(tmp_path, [traced(span(FIRST, 1), span(LOST, 2))])])
    found = {each.rule for stream in report.streams for each in stream.findings}
    assert found == {"history/otel/kept-with-calls"}


def test_runs_of_agents_and_calls_reported_twice_are_counted(tmp_path: Path) -> None:
    agent = {**SECOND, "gen_ai.operation.name": "invoke_agent"}
    cut = {**in_texts(FIRST), "gen_ai.output.messages": '[{"role": "assist'}
    twice = [traced(span(FIRST, 1), span(agent, 2), span(cut, 3)), logged(span(FIRST, 1))]
    recording = open_recording(written(tmp_path, twice))
    assert len(recording.exchanges) == 1
    assert {note.rpartition(": ")[2] for note in recording.notes[1:]} == {"1"}
    assert len(recording.notes) == 4


def test_a_call_that_failed_is_one(tmp_path: Path) -> None:
    failed = {"gen_ai.input.messages": [QUESTION], "error.type": "TimeoutError"}
    path = written(tmp_path, [traced(span(failed, 1), span(FIRST, 2))])
    [first, _] = open_recording(path).exchanges
    assert json.loads(first.body) == {"error_type": "TimeoutError"}
    assert {each.dialect for each in check_paths([path]).streams} == {"otel.genai"}


def test_openinference_is_spelled_as_the_conventions_are(tmp_path: Path) -> None:
    flat = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "When?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.contents.0.message_content.type": "reasoning",
        "llm.output_messages.0.message.contents.0.message_content.text": "I look it up.",
        "llm.output_messages.0.message.contents.0.message_content.signature": "c2ln",
        "llm.output_messages.0.message.contents.1.message_content.type": "tool_use",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "call_1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"at": 1}',
        "llm.finish_reason": "tool_use",
        "llm.token_count.prompt": 9,
        "llm.token_count.completion": 7,
    }
    [exchange] = open_recording(written(tmp_path, [{"attributes": flat}])).exchanges
    [answer] = json.loads(exchange.body)["output_messages"]
    thought = {"type": "reasoning", "content": "I look it up.", "signature": "c2ln"}
    assert answer == {**CALLED, "parts": [thought, CALL]}


def test_openinference_need_not_say_why_an_answer_ended(tmp_path: Path) -> None:
    flat = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "When?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "At nine.",
        "llm.token_count.prompt": 9,
        "llm.token_count.completion": 7,
    }
    [stream] = check_paths([written(tmp_path, [{"attributes": flat}])]).streams
    assert [each.rule for each in stream.findings] == []


@pytest.mark.parametrize("empty", [{}, {"llm.output_messages.0.message.content": ""}])
def test_openinference_leaves_an_empty_text_out(tmp_path: Path, empty: Fields) -> None:
    flat = {"llm.output_messages.0.message.role": "assistant", **empty}
    [exchange] = open_recording(written(tmp_path, [{"attributes": flat}])).exchanges
    [answer] = json.loads(exchange.body)["output_messages"]
    assert answer["parts"] == [{"type": "text", "content": ""}]


@pytest.mark.parametrize(
    "text",
    [
        '{"attributes": {"gen_ai.output.messages": "[]"}, "broken',
        '{"gen_ai.output.messages": ' + "[" * 100_000,
    ],
)
def test_what_is_broken_is_no_recording(tmp_path: Path, text: str) -> None:
    path = tmp_path / "calls.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CassetteError) as caught:
        open_recording(path)
    assert "internal" not in str(caught.value)


def test_a_surrogate_alone_costs_its_record(tmp_path: Path) -> None:
    path = written(tmp_path, [traced(span(FIRST, 1))])
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("look it", "\\ud800") + "\n" + text, encoding="utf-8")
    assert len(open_recording(path).exchanges) == 1


def test_what_only_names_messages_is_of_another_kind(tmp_path: Path) -> None:
    path = written(tmp_path, [{"attributes": {"gen_ai.request.model": "gen_ai.output.messages"}}])
    assert open_recording(path).kind != "otel"
