"""Schemas judged as plain Python say what the general validator says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.judging.suites import load_suites
from conformance.rules.forms.each import Each
from conformance.rules.schemas import compile_simple

KEYS = st.sampled_from(["a", "b", "c"])
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 1.5, -0.5, 1e300, 2**70])
    | st.sampled_from(["", "a", "ab", "\u8c46", "\U0001f600\U0001f600"])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from(["string", "object", "array", "boolean", "null", "number", "integer"])
sizes = st.integers(0, 3)
schemas: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.just({}),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
            "const": st.none() | st.booleans() | st.sampled_from(["", "a"]),
            "enum": st.lists(st.sampled_from(["", "a", "ab"]), min_size=1, unique=True),
            "required": st.lists(KEYS, max_size=2, unique=True),
            "properties": st.dictionaries(KEYS, inner, max_size=2),
            "items": inner,
            "not": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "minimum": st.integers(-2, 2),
            "exclusiveMaximum": st.integers(-2, 2),
            "minLength": sizes,
            "maxLength": sizes,
            "minItems": sizes,
            "maxItems": sizes,
            "minProperties": sizes,
            "maxProperties": sizes,
        },
    ),
    max_leaves=5,
)


@pytest.mark.slow
@settings(deadline=None, max_examples=1500, derandomize=True)
@given(schemas, st.lists(values, min_size=1, max_size=5))
def test_simple_schemas_are_the_validators(schema: Any, data: list[Any]) -> None:
    check = compile_simple(schema)
    assert check is not None
    validator = jsonschema_rs.Draft202012Validator(schema)
    for value in data:
        assert check(value) == validator.is_valid(value), value


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": "^a"},
        {"const": 1},
        {"const": {"a": 1}},
        {"enum": ["a", 1]},
        {"type": "text"},
        {"type": []},
        {"minLength": -1},
        {"minLength": True},
        {"minimum": 0.5},
        {"required": "a"},
        {"properties": {"a": {"pattern": "x"}}},
        {"items": {"$ref": "#"}},
        "a",
    ],
)
def test_what_is_not_simple_goes_to_the_validator(schema: Any) -> None:
    assert compile_simple(schema) is None


def test_most_shipped_schemas_are_simple() -> None:
    rules = (rule for suite in load_suites() for rule in suite.rules)
    found = [compile_simple(rule.form.schema) for rule in rules if isinstance(rule.form, Each)]
    assert len([check for check in found if check is not None]) > len(found) * 0.7


def test_what_a_shipped_rule_requires_is_an_object_where_it_asks_for_its_fields() -> None:
    rules = (rule for suite in load_suites() for rule in suite.rules)
    loose = {
        (rule.id, path)
        for rule in rules
        if isinstance(rule.form, Each)
        for path in loose_fields(rule.form.schema, is_required=False)
    }
    assert not loose


def loose_fields(schema: Any, *, is_required: bool, path: str = "") -> Iterator[str]:
    """Required fields that may be null or a list, as nothing says that they are objects."""
    if not isinstance(schema, dict):
        return
    # The headers of a message are objects of ours.
    if is_required and not path.endswith("headers") and "type" not in schema:
        yield from [path] if schema.keys() & {"required", "properties"} else []
    required = schema.get("required", ())
    for name, inner in schema.get("properties", {}).items():
        yield from loose_fields(inner, is_required=name in required, path=f"{path}.{name}")
    below = [schema[key] for key in ("items", "then", "else") if key in schema]
    for inner in (*below, *(each for key in ("allOf", "anyOf") for each in schema.get(key, ()))):
        yield from loose_fields(inner, is_required=False, path=path)
