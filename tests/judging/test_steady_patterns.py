"""Which patterns and schemas answer alike whatever the columns of a run hold."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.core.events import Event
from conformance.rules.paths import getter
from conformance.rules.patterns import compile_value
from conformance.rules.repetition import Repeated, is_blind, is_steady
from tests.judging.test_repetition import NobodyAsked

columns = st.sampled_from(["delta", "n", "o.text"])
paths = st.sampled_from(["delta", "n", "o", "o.text", "o.text.x", "other", "delta.x", "o.k"])
constants = st.sampled_from(["a", "", "abcd", 5, 0, None, True, False, 1.5])
flat_schemas = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "number", "object", "null"]),
        "minLength": st.integers(0, 2),
        "maxLength": st.integers(0, 2),
        "pattern": st.just("^a"),
        "enum": st.just(["a", 5]),
        "const": constants,
        "required": st.sampled_from([["text"], ["k", "x"], []]),
        "maxProperties": st.integers(0, 3),
        "minProperties": st.integers(0, 3),
        "additionalProperties": st.booleans(),
        "properties": st.dictionaries(
            st.sampled_from(["text", "k"]),
            st.sampled_from([{"type": "string"}, {"minLength": 1}, {"const": "a"}, {}, True]),
            max_size=2,
        ),
    },
)
of_fields = st.dictionaries(st.sampled_from(["delta", "other", "o"]), flat_schemas, max_size=2)
conditions = flat_schemas | st.fixed_dictionaries({"properties": of_fields})
schemas = flat_schemas | st.fixed_dictionaries(
    {},
    optional={
        "required": st.sampled_from([["delta"], ["x"]]),
        "properties": of_fields,
        "allOf": st.lists(conditions, min_size=1, max_size=2),
        "anyOf": st.lists(conditions, min_size=1, max_size=2),
        "oneOf": st.lists(conditions, min_size=1, max_size=2),
        "if": conditions,
        "then": conditions,
        "else": conditions,
    },
)
plain = constants | schemas.filter(lambda s: "minLength" in s or len(s) > 1 or not s)
patterns = st.recursive(
    plain
    | st.just({"absent": True})
    | paths.map(lambda p: {"field": p})
    | st.sampled_from(
        [
            {"above": 3},
            {"above": {"field": "n"}},
            {"above": {"field": "other"}},
            {"sum": ["n", "other"]},
        ]
    ),
    lambda inner: st.lists(inner, min_size=1, max_size=3) | inner.map(lambda p: {"not": p}),
    max_leaves=4,
)
texts = st.sampled_from(["a", "b", "abcd", "\u8c46", " ", "5"])
COLUMNS: Final = ("delta", "n", "o.text")
AGAIN: Final = Repeated(Event("delta", {}, 0, "wire"), COLUMNS)
MIRRORED: Final = Repeated(Event("delta", {}, 0, "wire"), COLUMNS, ("delta", "o.text"))


def payload(text: str, number: int, inner: str) -> dict[str, Any]:
    return {"delta": text, "n": number, "o": {"text": inner, "k": "a"}, "other": 5}


rows = st.builds(payload, texts, st.integers(0, 9), texts)


@settings(deadline=None, derandomize=True, max_examples=600)
@given(paths, patterns, st.lists(rows, min_size=2, max_size=6))
def test_steady_patterns_ignore_text(path: str, pattern: Any, data: list[dict[str, Any]]) -> None:
    mirrored = [{**row, "o": {**row["o"], "text": row["delta"]}} for row in data]
    for again, each in ((AGAIN, data), (MIRRORED, mirrored)):
        if is_steady(path, pattern, again, {}):
            test = compile_value(pattern, {})
            assert len({test(getter(path)(row), row, NobodyAsked()) for row in each}) == 1


@settings(deadline=None, derandomize=True, max_examples=600)
@given(schemas, st.lists(rows, min_size=2, max_size=6))
def test_blind_schemas_ignore_text(schema: dict[str, Any], data: list[dict[str, Any]]) -> None:
    whole = {"properties": {"delta": schema, "o": schema, "n": schema}}
    for each in (schema, whole):
        if each and is_blind(each, "", COLUMNS):
            test = compile_value({**each, "$comment": "a schema"}, {})
            assert len({test(row, row, NobodyAsked()) for row in data}) == 1


@pytest.mark.parametrize(
    ("path", "pattern", "steady"),
    [
        ("delta", "a", False),
        ("delta", ["a", "b"], False),
        ("delta", None, True),
        ("delta", True, True),
        ("delta", {"absent": True}, True),
        ("delta", {"type": "string", "minLength": 1}, True),
        ("delta", {"type": "string", "minLength": 2}, False),
        ("delta", {"pattern": "."}, False),
        ("other", "a", True),
        ("delta", "$request.model", False),
        ("delta", {"not": "$user_choices.effort"}, False),
        ("other", {"not": "$user_choices.effort"}, True),
        ("delta", "$$user_choices.effort", False),
        ("other", {"field": "n"}, False),
        ("n", {"above": 3}, False),
        ("other", {"above": {"field": "n"}}, False),
        ("other", {"sum": ["fixed", "n"]}, False),
        ("o", {"type": "object", "minProperties": 1}, True),
        ("o", {"properties": {"text": {"const": "a"}}}, False),
        ("o", {"if": {"properties": {"k": {"const": "a"}}}, "then": {"required": ["x"]}}, True),
        ("o", {"if": {"properties": {"text": {"const": "a"}}}, "then": {"required": ["x"]}}, False),
        ("o", {"if": {"required": ["k"]}, "else": {"properties": {"text": {"const": "a"}}}}, False),
        ("o", {"allOf": [{"required": ["k"]}, {"type": "object"}]}, True),
        ("o", {"allOf": [{"properties": {"text": {"minLength": 3}}}]}, False),
        ("o", {"anyOf": [{"required": ["text"]}, {"required": ["k"]}]}, True),
        ("o", {"anyOf": [{"properties": {"text": {"const": "a"}}}, {"required": ["x"]}]}, False),
        ("delta", {"not": {"field": "o.text"}}, False),
    ],
)
def test_what_is_steady(path: str, pattern: Any, steady: bool) -> None:
    assert is_steady(path, pattern, AGAIN, {}) is steady


@pytest.mark.parametrize(
    ("path", "pattern", "steady"),
    [
        ("delta", {"field": "o.text"}, True),
        ("o.text", {"not": {"field": "delta"}}, True),
        ("delta", {"field": "n"}, False),
        ("n", {"field": "delta"}, False),
        ("delta", {"above": {"field": "o.text"}}, False),
    ],
)
def test_texts_that_are_the_same_compare_the_same(path: str, pattern: Any, steady: bool) -> None:
    assert is_steady(path, pattern, MIRRORED, {}) is steady
