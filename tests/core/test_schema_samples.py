"""A sample fits the schema that it is made for, and is small whatever the schema is."""

from __future__ import annotations

import json
from typing import Any, Final

import jsonschema_rs
import pytest

from conformance.core.schema_samples import sample_of

ITSELF: Final[dict[str, Any]] = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
                "below": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["name"],
        }
    },
}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": ["null", "string"], "minLength": 40},
        {"type": "string", "maxLength": 2},
        {"type": "string", "enum": ["flash", "pro"]},
        {"const": 7},
        {"type": "integer", "minimum": 10},
        {"type": "integer", "exclusiveMinimum": 10, "multipleOf": 4},
        {"type": "number", "maximum": -2.5},
        {"type": "boolean"},
        {"type": "null"},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3},
        {"type": "array", "maxItems": 0},
        {"oneOf": [{"type": "null"}, {"type": "object", "properties": {"a": {"const": 1}}}]},
        {"allOf": [{"properties": {"a": {"type": "integer"}}}, {"required": ["a"]}]},
        {"type": "string", "format": "date-time"},
        ITSELF,
    ],
)
def test_a_sample_fits_its_schema(schema: dict[str, Any]) -> None:
    assert jsonschema_rs.is_valid(schema, sample_of(schema, "Answer 1"))


@pytest.mark.parametrize(
    "schema",
    [
        None,
        7,
        {"$ref": "#"},
        {"$ref": "https://example.com/x"},
        {"type": "array", "minItems": 10**9},
        {"type": "array", "minItems": 10**9, "items": {"$ref": "#"}},
        {"type": "object", "properties": {str(n): {"$ref": "#"} for n in range(64)}},
        {"type": "string", "minLength": 10**9},
        {"properties": {str(n): {} for n in range(1000)}, "type": "object"},
        {"type": "object", "required": [None, 3], "properties": []},
    ],
)
def test_what_a_stranger_asks_for_stays_small(schema: Any) -> None:
    assert len(json.dumps(sample_of(schema, "x"))) < 40_000
