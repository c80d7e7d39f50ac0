"""Text that only the finish brings behind thinking: what of it is a tail, and what an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.judging.checker import Checker

RULES = {"thinking/stream/tail-kept": "tail", "stripping/visible-text/no-tag-piece": "piece"}
Fields = dict[str, Any]


def chat(delta: Fields, finish: str | None = None) -> Fields:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def ollama(message: Fields, finish: str | None = None) -> Fields:
    line: Fields = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
    spoken = {"role": "assistant", "content": "", **message}
    end = {"done": True, "done_reason": finish} if finish else {"done": False}
    return {**line, "message": spoken, **end}


def of_chat(*chunks: tuple[str, str, str | None]) -> set[str]:
    keys = {"thinking": "reasoning_content", "text": "content"}
    events = [chat({keys[kind]: text}, finish) for kind, text, finish in chunks]
    stream = "".join(f"data: {json.dumps(each)}\n\n" for each in events) + "data: [DONE]\n\n"
    return found("openai.chat", stream)


def of_ollama(*chunks: tuple[str, str, str | None]) -> set[str]:
    keys = {"thinking": "thinking", "text": "content"}
    lines = [ollama({keys[kind]: text}, finish) for kind, text, finish in chunks]
    return found("ollama.chat", "".join(f"{json.dumps(each)}\n" for each in lines))


def found(dialect: str, stream: str) -> set[str]:
    findings = Checker(dialect).check([stream.encode()]).findings
    return {RULES[each.rule] for each in findings if each.rule in RULES}


FLUSHED = {
    "the last word": ("Two and two make", " four.", {"tail"}),
    "within a word": ("Two and two ma", "ke four.", {"tail"}),
    "behind a comma, and a space": ("Two, ", "and two.", {"tail"}),
    "a piece of a marker": ("Two and two make four.\n", "</thi", {"piece"}),
    "one character of it": ("Two and two make four.", "<", {"piece"}),
    "a short answer": ("Two and two make four.", "4", set()),
    "behind a line end": ("Two and two make four\n", "4", set()),
    "markup of its own": ("A heading will do.", "<b>4</b>", set()),
}


@pytest.mark.parametrize("reason", ["stop", "length"])
@pytest.mark.parametrize(("thought", "text", "expected"), FLUSHED.values(), ids=FLUSHED)
def test_text_that_comes_with_the_finish(
    thought: str, text: str, expected: set[str], reason: str
) -> None:
    assert of_chat(("thinking", thought, None), ("text", text, reason)) == expected
    assert of_ollama(("thinking", thought, None), ("text", text, reason)) == expected


def test_text_that_was_begun_before_is_no_flush() -> None:
    begun = [("thinking", "Two and two make", None), ("text", "It", None)]
    assert of_chat(*begun, ("text", " is four.", "stop")) == set()


def test_a_whole_body_brings_all_at_once() -> None:
    message = {"role": "assistant", "reasoning_content": "Two and two make", "content": "four."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    assert found("openai.chat", json.dumps({**body, "choices": [choice]})) == set()
