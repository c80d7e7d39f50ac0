"""Ollama's own client reads what the reference server sends, and what a replay sends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ollama
import pytest

from conformance.targets.replay import ReplayOptions, serving
from tests.reference.replays import replayed
from tests.reference.server_process import CALCULATE, KEY, MODEL, SCHEMA

pytestmark = pytest.mark.slow

ASK = "What is 2 + 2?"
FUNCTION = {"name": "calculator", "description": "Adds.", "parameters": SCHEMA}
TOOLS: list[Any] = [{"type": "function", "function": FUNCTION}]
LENIENT = ReplayOptions(ignore=("stream",))  # the client says what is so where nothing is said
GENERATED = ("thinking-then-text", "thinks-by-default", "thinking-off", "length")


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[ollama.Client]:
    with ollama.Client(url, headers={"authorization": f"Bearer {KEY}"}) as made:
        yield made


def test_a_completion_is_read_the_same_from_stream_and_body(client: ollama.Client) -> None:
    lines = list(client.generate(MODEL, ASK, think=True, stream=True))
    whole = client.generate(MODEL, ASK, think=True)

    assert "".join(line.thinking or "" for line in lines) == whole.thinking
    assert "".join(line.response or "" for line in lines) == whole.response == "2 + 2 = 4."
    assert lines[-1].done_reason == whole.done_reason == "stop"
    assert lines[-1].eval_count == whole.eval_count


def test_thinking_comes_where_nothing_is_reported_of_it(client: ollama.Client) -> None:
    assert client.generate(MODEL, ASK).thinking
    assert not client.generate(MODEL, ASK, think=False).thinking


def test_a_tool_turn_comes_back_with_its_thinking(client: ollama.Client) -> None:
    asked: list[Any] = [{"role": "user", "content": CALCULATE}]
    called = client.chat(MODEL, asked, tools=TOOLS, think=True).message
    assert called.thinking
    assert called.tool_calls
    result = {"role": "tool", "tool_name": "calculator", "content": "5"}
    turns = [*asked, called, result]
    lines = client.chat(MODEL, turns, tools=TOOLS, think=True, stream=True)
    assert "5" in "".join(line.message.content or "" for line in lines)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", GENERATED)
def test_a_replay_reads_as_the_recording_is_read(name: str) -> None:
    ours = replayed("ollama.generate", f"ollama/{name}")
    with serving([ours.path], options=LENIENT) as replay, ollama.Client(replay.url) as made:
        lines = list(made.generate(**ours.asked, stream=True))
    assert "".join(line.thinking or "" for line in lines) == ours.text("thinking.delta")
    assert "".join(line.response or "" for line in lines) == ours.text("text.delta")
