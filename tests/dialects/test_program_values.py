"""Undefined, null and None in what a model says: as words they are its own, joined they are not."""

from __future__ import annotations

import json

import pytest

from conformance.judging.checker import Checker

CHECKER = Checker("openai.chat")
RULE = "thinking/stream/no-program-values"


def is_found(*values: tuple[str, str]) -> bool:
    """Whether the rule fails where these are the fields and texts of the deltas."""
    deltas = [{"role": "assistant"}, *({field: text} for field, text in values)]
    chunks = [
        f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta}]})}\n\n".encode()
        for delta in deltas
    ]
    return RULE in {each.rule for each in CHECKER.check(chunks).findings}


@pytest.mark.parametrize(
    "texts",
    [
        ("undefined", "The sky."),
        ("It is", " 4.", "undefined"),
        ("So it is!", "None"),
        ("It is four.", "None"),
        ("He said so (twice).", "null"),
        ("undefined", "undefined", "Hi"),
        ("Hi", "null", "null"),
        ("[object Object]", "[object Object]"),
    ],
)
def test_a_value_that_a_program_joined_is_found(texts: tuple[str, ...]) -> None:
    for field in ("reasoning_content", "content"):
        assert is_found(*((field, text) for text in texts))


@pytest.mark.parametrize(
    "text",
    [
        "It returns None",
        "StringSplitOptions.None",
        "Take `SameSite.None`, or SameSiteMode.None",
        "What is true is !null",
        "It prints `undefinedundefined`",
        'It prints "[object Object][object Object]"',
        "x is null. The rest is not.",
    ],
)
def test_a_model_may_write_of_such_values(text: str) -> None:
    assert not is_found(("content", text))


def test_what_was_thought_and_what_is_reported_are_not_one_text() -> None:
    assert not is_found(("reasoning_content", "It returns None"), ("content", "The rest is so."))
