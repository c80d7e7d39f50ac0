"""What a client is asked to say is in the form of its API."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.targets.client.conversation import (
    AGAIN,
    HELLO,
    hello_command,
    in_form_of,
    with_called_tools,
)

QUESTION = "What is 2 + 2?"


@pytest.mark.parametrize(
    ("dialect", "message"),
    [
        ("openai.chat", HELLO),
        ("openai.responses", HELLO),
        ("anthropic.messages", HELLO),
        ("ollama.generate", HELLO),  # it has a prompt, and no messages
        ("gemini.generate", {"role": "user", "parts": [{"text": QUESTION}]}),
        ("bedrock.converse", {"role": "user", "content": [{"text": QUESTION}]}),
    ],
)
def test_a_question_is_in_the_form_of_the_api(dialect: str, message: dict[str, Any]) -> None:
    assert hello_command(dialect)["messages"] == [message]
    assert in_form_of(dialect, AGAIN) != in_form_of(dialect, HELLO)


def test_a_system_message_is_the_same_in_every_api() -> None:
    rules = {"role": "system", "content": "Be brief."}
    assert in_form_of("gemini.generate", rules) == rules


def test_a_function_that_the_answer_calls_is_offered() -> None:
    tides = {"type": "function", "function": {"name": "tides", "parameters": {"type": "string"}}}
    command = {**hello_command("openai.chat"), "options": {"tools": [tides]}}
    calls = [{"name": name, "arguments": "{}"} for name in ("ferries", "tides", "ferries", None)]
    offered = with_called_tools(command, calls)["options"]["tools"]
    plain = {"name": "ferries", "parameters": {"type": "object"}}
    assert offered == [tides, {"type": "function", "function": plain}]
    assert with_called_tools(hello_command("openai.chat"), []) == hello_command("openai.chat")
