"""Cohere's own client reads what the reference server sends, and what a replay sends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import cohere
import httpx
import pytest

from conformance.targets.replay import serving
from tests.reference.replays import replayed
from tests.reference.server_process import CALCULATE, KEY, MODEL, SCHEMA

pytestmark = pytest.mark.slow

ASK: list[Any] = [{"role": "user", "content": "What is 2 + 2?"}]
FUNCTION = {"name": "calculator", "description": "Adds.", "parameters": SCHEMA}
TOOLS: list[Any] = [{"type": "function", "function": FUNCTION}]
REPLAYED = [
    "thinking-then-text",
    "thinking-then-tools",
    "plan-then-tool",
    "citations",
    "max-tokens",
]


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[cohere.ClientV2]:
    with httpx.Client() as http:
        yield cohere.ClientV2(api_key=KEY, base_url=url, httpx_client=http)


def joined(events: Iterable[Any]) -> dict[str, Any]:
    """What the client gives, put together: texts, calls, the reason and the tokens."""
    answer: dict[str, Any] = {"thinking": "", "text": "", "calls": [], "plan": ""}
    for event in events:
        match event.type:
            case "content-start" | "content-delta":
                content = event.delta.message.content
                answer["thinking"] += content.thinking or ""
                answer["text"] += content.text or ""
            case "tool-plan-delta":
                answer["plan"] += event.delta.message.tool_plan
            case "tool-call-start":
                answer["calls"].append(event.delta.message.tool_calls.model_dump())
            case "tool-call-delta":
                function = event.delta.message.tool_calls.function
                answer["calls"][-1]["function"]["arguments"] += function.arguments
            case "message-end":
                answer["reason"] = event.delta.finish_reason
                answer["tokens"] = event.delta.usage.tokens
    return answer


def test_thinking_and_text_are_read_the_same_from_stream_and_body(client: cohere.ClientV2) -> None:
    asked: Any = {"model": MODEL, "messages": ASK, "temperature": 0, "seed": 0}
    answer = joined(client.v2.chat_stream(**asked))
    whole = client.v2.chat(**asked)

    assert whole.message.content is not None
    blocks = [(each.type, getattr(each, each.type)) for each in whole.message.content]
    assert blocks == [("thinking", answer["thinking"]), ("text", answer["text"])]
    assert answer["text"] == "2 + 2 = 4."
    assert answer["reason"] == whole.finish_reason == "COMPLETE"
    assert answer["tokens"].reasoning_tokens > 0


def test_thinking_that_is_disabled_does_not_come(client: cohere.ClientV2) -> None:
    off = cohere.Thinking(type="disabled")
    answer = joined(client.v2.chat_stream(model=MODEL, messages=ASK, thinking=off))
    assert answer["thinking"] == ""
    assert answer["text"]


@pytest.mark.slow
def test_a_tool_turn_comes_back_with_its_thinking(client: cohere.ClientV2) -> None:
    asked: list[Any] = [{"role": "user", "content": CALCULATE}]
    called = joined(client.v2.chat_stream(model=MODEL, messages=asked, tools=TOOLS))
    assert called["reason"] == "TOOL_CALL"

    thought = [{"type": "thinking", "thinking": called["thinking"]}]
    turn = {"role": "assistant", "content": thought, "tool_calls": called["calls"]}
    result = {"role": "tool", "tool_call_id": called["calls"][0]["id"], "content": "5"}
    turns: list[Any] = [*asked, turn, result]
    answer = joined(client.v2.chat_stream(model=MODEL, messages=turns, tools=TOOLS))
    assert "5" in answer["text"]
    assert answer["reason"] == "COMPLETE"


def test_a_refusal_is_an_error_of_the_client(client: cohere.ClientV2) -> None:
    with pytest.raises(cohere.NotFoundError, match="no-such-model"):
        client.v2.chat(model="no-such-model", messages=ASK)


@pytest.mark.parametrize("name", REPLAYED)
def test_a_replay_reads_as_the_recording_is_read(name: str) -> None:
    ours = replayed("cohere.v2", f"cohere/{name}", "cohere")
    with serving([ours.path]) as replay, httpx.Client() as http:
        client = cohere.ClientV2(api_key=KEY, base_url=replay.url, httpx_client=http)
        answer = joined(client.v2.chat_stream(**ours.asked))
    assert answer["thinking"] + answer["plan"] == ours.text("thinking.delta")
    assert answer["text"] == ours.text("text.delta")
    calls = [each["function"] for each in answer["calls"]]
    named = [{key: each[key] for key in ("name", "arguments")} for each in ours.calls()]
    assert calls == named
