"""Requests of the Gemini API may be spelled either way; what users name stays."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.core.events import Request
from conformance.dialects import get
from conformance.dialects.gemini_generate.spelling import in_camel_case


@pytest.mark.parametrize(
    ("written", "known"),
    [
        (
            {"generation_config": {"thinking_config": {"include_thoughts": True}}},
            {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}},
        ),
        (
            {"contents": [{"parts": [{"function_call": {"args": {"sails_at": 9}}}]}]},
            {"contents": [{"parts": [{"functionCall": {"args": {"sails_at": 9}}}]}]},
        ),
        (
            {"parts": [{"function_response": {"response": {"sails_at": 9}}}]},
            {"parts": [{"functionResponse": {"response": {"sails_at": 9}}}]},
        ),
        (
            {"tools": [{"function_declarations": [{"parameters": {"max_items": 1}}]}]},
            {"tools": [{"functionDeclarations": [{"parameters": {"max_items": 1}}]}]},
        ),
        ({"response_json_schema": {"a_b": 1}}, {"responseJsonSchema": {"a_b": 1}}),
        ({"thinkingLevel": "low", "thinking_level": "high"}, {"thinkingLevel": "low"}),
        ({"_": 1, "__a": 2, "a_": 3}, {"_": 1, "__a": 2, "a_": 3}),
        ("a_b", "a_b"),
    ],
)
def test_keys_are_in_camel_case_but_for_those_of_users(written: Any, known: Any) -> None:
    assert in_camel_case(written) == known
    assert in_camel_case(known) == known


def test_a_deep_value_ends_the_search() -> None:
    deep: Any = {"a_b": 1}
    for _ in range(20_000):
        deep = {"x": deep}
    assert in_camel_case(deep).keys() == {"x"}


def test_a_request_is_known_by_one_spelling() -> None:
    path = "/v1beta/models/m:generateContent"
    said = get("gemini.generate").stated(
        Request(path=path, json={"generation_config": {"seed": 1}})
    )
    assert said is not None
    assert said.json == {"model": "m", "stream": False, "generationConfig": {"seed": 1}}
