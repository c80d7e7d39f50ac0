"""Mistral's own client reads what the reference server sends, and what a replay sends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import httpx
import pytest
from mistralai.client import Mistral
from mistralai.client.errors import SDKError

from conformance.targets.replay import serving
from tests.reference.replays import replayed
from tests.reference.server_process import CALCULATE, KEY, MODEL, SCHEMA, server

pytestmark = pytest.mark.slow

ASK: list[Any] = [{"role": "user", "content": "What is 2 + 2?"}]
FUNCTION = {"name": "calculator", "description": "Adds.", "parameters": SCHEMA}
TOOLS: list[Any] = [{"type": "function", "function": FUNCTION}]
REPLAYED = ["end-mark", "closed", "all-parts", "thinking-off", "length"]


def connected(url: str, http: Any) -> Any:
    return Mistral(api_key=KEY, server_url=url, client=http)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with server("--chat-reasoning", "parts") as url, httpx.Client(timeout=60) as http:
        yield connected(url, http)


def parts_of(content: Any) -> tuple[str, str]:
    """Thinking and text of a content, which is a text or a list of parts."""
    if not isinstance(content, list):
        return "", content or ""
    thought = (piece.text for part in content if part.type == "thinking" for piece in part.thinking)
    return "".join(thought), "".join(part.text for part in content if part.type == "text")


def joined(events: Iterable[Any]) -> dict[str, Any]:
    """What the client gives, put together: texts, calls, the reason and the tokens."""
    answer: dict[str, Any] = {"thinking": "", "text": "", "calls": []}
    for event in events:
        for choice in event.data.choices:
            thought, text = parts_of(choice.delta.content)
            answer["thinking"] += thought
            answer["text"] += text
            answer["calls"] += choice.delta.tool_calls or ()
            answer["reason"] = choice.finish_reason
        answer["usage"] = event.data.usage
    return answer


def test_thinking_and_text_are_read_the_same_from_stream_and_body(client: Any) -> None:
    asked: Any = {"model": MODEL, "messages": ASK, "temperature": 0}
    answer = joined(client.chat.stream(**asked))
    (choice,) = client.chat.complete(**asked).choices
    assert parts_of(choice.message.content) == (answer["thinking"], answer["text"])
    assert answer["thinking"]
    assert answer["text"] == "2 + 2 = 4."
    assert answer["reason"] == choice.finish_reason == "stop"
    assert answer["usage"].completion_tokens > 0


def test_thinking_that_is_turned_off_does_not_come(client: Any) -> None:
    asked: Any = {"model": MODEL, "messages": ASK, "reasoning_effort": "none"}
    assert joined(client.chat.stream(**asked))["thinking"] == ""
    (choice,) = client.chat.complete(**asked).choices
    assert isinstance(choice.message.content, str)


def test_a_tool_turn_comes_back_with_its_thinking(client: Any) -> None:
    asked: Any = {"model": MODEL, "tools": TOOLS, "temperature": 0}
    turns: list[Any] = [{"role": "user", "content": CALCULATE}]
    (choice,) = client.chat.complete(messages=turns, **asked).choices
    assert choice.finish_reason == "tool_calls"
    (call,) = choice.message.tool_calls
    assert len(call.id) == 9
    result = {"role": "tool", "tool_call_id": call.id, "name": call.function.name, "content": "5"}
    turns += [choice.message, result]
    assert parts_of(choice.message.content)[0]
    assert "5" in joined(client.chat.stream(messages=turns, **asked))["text"]


def test_a_refusal_is_an_error_of_the_client(client: Any) -> None:
    with pytest.raises(SDKError, match="no-such-model"):
        client.chat.complete(model="no-such-model", messages=ASK)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", REPLAYED)
def test_a_replay_reads_as_the_recording_is_read(name: str) -> None:
    ours = replayed("mistral.chat", f"mistral/{name}")
    with serving([ours.path]) as replay, httpx.Client() as http:
        answer = joined(connected(replay.url, http).chat.stream(**ours.asked))
    assert answer["thinking"] == ours.text("thinking.delta")
    assert answer["text"] == ours.text("text.delta")
