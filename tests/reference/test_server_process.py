"""The server as a process: official clients, curl, and a signal that ends it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx
import openai
import pytest

from conformance import check_chunks
from tests.reference.server_process import CALCULATE, KEY, MODEL, SCHEMA

pytestmark = pytest.mark.slow

ASK: list[Any] = [{"role": "user", "content": "What is 2 + 2?"}]
ANSWER = "2 + 2 = 4."


@pytest.fixture(scope="module")
def oai(url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def ant(url: str) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        yield client


def test_openai_chat_raw(oai: openai.OpenAI) -> None:
    stream = oai.chat.completions.create(
        model=MODEL,
        messages=ASK,
        stream=True,
        stream_options={"include_usage": True},
        extra_headers={"x-include-thinking": "true"},
    )
    chunks = list(stream)
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text.startswith("<think>")
    assert text.endswith(f"</think>{ANSWER}")
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens_details is not None
    assert chunks[-1].usage.completion_tokens_details.reasoning_tokens


def test_openai_chat_helper(oai: openai.OpenAI) -> None:
    with oai.chat.completions.stream(model=MODEL, messages=ASK) as stream:
        for _ in stream:
            pass
        completion = stream.get_final_completion()
    assert completion.choices[0].message.content == ANSWER
    assert completion.choices[0].message.role == "assistant"


def test_openai_chat_tool_loop(oai: openai.OpenAI) -> None:
    function: Any = {"name": "calculator", "description": "Adds.", "parameters": SCHEMA}
    messages: list[Any] = [{"role": "user", "content": CALCULATE}]
    tools: Any = [{"type": "function", "function": function}]
    with oai.chat.completions.stream(model=MODEL, messages=messages, tools=tools) as stream:
        first = stream.get_final_completion().choices[0]
    assert first.finish_reason == "tool_calls"
    (call,) = first.message.tool_calls or []
    assert json.loads(call.function.arguments)
    messages.append(first.message.model_dump(exclude_none=True, exclude={"parsed"}))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": "5"})
    second = oai.chat.completions.create(model=MODEL, messages=messages, tools=tools)
    assert "5" in (second.choices[0].message.content or "")


def test_openai_responses_raw(oai: openai.OpenAI) -> None:
    stream = oai.responses.create(
        model=MODEL, input=ASK, reasoning={"effort": "high", "summary": "detailed"}, stream=True
    )
    events = list(stream)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].type == "response.completed"
    reasoning, message = events[-1].response.output
    assert reasoning.type == "reasoning"
    assert len(reasoning.summary) > 1
    assert reasoning.content
    assert message.type == "message"
    assert events[-1].response.output_text == ANSWER


def test_openai_responses_helper(oai: openai.OpenAI) -> None:
    reasoning: Any = {"effort": "high", "summary": "concise"}
    with oai.responses.stream(model=MODEL, input=ASK, reasoning=reasoning) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_response()
    assert "response.reasoning_summary_text.delta" in kinds
    assert final.output_text == ANSWER
    assert final.usage is not None
    assert final.usage.output_tokens_details.reasoning_tokens > 0


def test_openai_responses_tool_loop(oai: openai.OpenAI) -> None:
    tools: Any = [{"type": "function", "name": "calculator", "parameters": SCHEMA, "strict": False}]
    with oai.responses.stream(model=MODEL, input=CALCULATE, tools=tools) as stream:
        first = stream.get_final_response()
    (call,) = [item for item in first.output if item.type == "function_call"]
    result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "5"}
    second = oai.responses.create(
        model=MODEL, input=[result], tools=tools, previous_response_id=first.id
    )
    assert "5" in second.output_text


def test_openai_errors_are_typed(oai: openai.OpenAI) -> None:
    loud: Any = {"effort": "loud"}
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        oai.chat.completions.create(model="gpt-9", messages=ASK)
    with pytest.raises(openai.BadRequestError, match="unknown effort"):
        oai.responses.create(model=MODEL, input=ASK, reasoning=loud)


def test_openai_model_list(oai: openai.OpenAI) -> None:
    (model,) = oai.models.list().data
    assert model.id == MODEL
    assert model.to_dict()["supports_thinking"] is True


def test_anthropic_raw(ant: anthropic.Anthropic) -> None:
    stream = ant.messages.create(
        model=MODEL,
        max_tokens=600,
        messages=ASK,
        thinking={"type": "enabled", "budget_tokens": 512},
        stream=True,
    )
    kinds = [event.type for event in stream]
    assert (kinds[0], kinds[-1]) == ("message_start", "message_stop")


def test_anthropic_helper_and_tool_loop(ant: anthropic.Anthropic) -> None:
    messages: list[Any] = [{"role": "user", "content": CALCULATE}]
    tools: Any = [{"name": "calculator", "description": "Adds.", "input_schema": SCHEMA}]
    thinking: Any = {"type": "adaptive"}
    common: Any = {"model": MODEL, "max_tokens": 600, "tools": tools, "thinking": thinking}
    with ant.messages.stream(messages=messages, **common) as stream:
        for _ in stream:
            pass
        first = stream.get_final_message()
    assert [block.type for block in first.content] == ["thinking", "tool_use"]
    assert first.stop_reason == "tool_use"
    call = first.content[1]
    assert call.type == "tool_use"
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "5"}
    messages.append({"role": "assistant", "content": first.content})
    messages.append({"role": "user", "content": [result]})
    with ant.messages.stream(messages=messages, **common) as stream:
        second = stream.get_final_message()
    assert "5" in stream.get_final_text()
    assert second.usage.input_tokens > first.usage.input_tokens


def test_anthropic_errors_are_typed(ant: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.NotFoundError, match="does not exist"):
        ant.messages.create(model="claude-9", max_tokens=9, messages=ASK)


@pytest.mark.filterwarnings("ignore:connect.. must be used as a context manager")  # openai 3.57.0
def test_the_official_client_talks_over_a_websocket(url: str) -> None:
    answers, earlier = [], None
    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key=KEY) as client,
        client.responses.connect() as connection,
    ):
        for question in ("What is 2 + 2?", "And 3 + 4?"):
            connection.response.create(model=MODEL, input=question, previous_response_id=earlier)
            for event in connection:
                assert event.type != "error"
                if event.type == "response.completed":
                    answers.append(event.response.output_text)
                    earlier = event.response.id
                    break
    assert answers == ["2 + 2 = 4.", "3 + 4 = 7."]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize(
    ("path", "fields", "dialect"),
    [
        ("chat/completions", {"messages": ASK}, "openai.chat"),
        ("responses", {"input": ASK}, "openai.responses"),
        ("messages", {"messages": ASK, "max_tokens": 99}, "anthropic.messages"),
    ],
)
def test_curl(url: str, path: str, fields: dict[str, Any], dialect: str) -> None:
    body = {"model": MODEL, "stream": True, **fields}
    command = ["curl", "-sN", "-H", f"x-api-key: {KEY}", "-d", json.dumps(body), f"{url}/v1/{path}"]
    sent = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    report = check_chunks([sent], dialect=dialect, profile="reference", request=body)
    assert report.findings == ()


def test_key_is_asked_for(url: str) -> None:
    with httpx.Client(base_url=url, trust_env=False) as client:
        assert client.get("/health").status_code == 200
        assert client.get("/v1/models").status_code == 401
