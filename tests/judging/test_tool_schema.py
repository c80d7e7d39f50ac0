"""Values held against the schema of a tool: what surely does not fit, and in which words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.judging.tool_schema import SchemaPlace, misfit, required_keys, takes_object

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
DAYS = {"type": "object", "properties": {"days": {"type": "array", "items": {"type": "integer"}}}}
UNIT = {"type": "object", "properties": {"unit": {"enum": ["C", "F"]}}}
PLACE: dict[str, Any] = {
    "type": "object",
    "properties": {"at": {"$ref": "#/$defs/place"}},
    "$defs": {"place": {"type": "object", "required": ["lat"]}},
}
LOOP: dict[str, Any] = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
WORDS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"word": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
}


@pytest.mark.parametrize(
    ("value", "schema", "words"),
    [
        ({"city": "Oslo"}, CITY, ""),
        ({}, CITY, "city is missing"),
        ({"city": 7}, CITY, "city is a number, not string"),
        ({"city": None}, CITY, "city is null, not string"),
        ({"city": "Oslo", "more": 1}, CITY, ""),
        ({"days": [1, 2.0]}, DAYS, ""),
        ({"days": [1, "2"]}, DAYS, "days.1 is a string, not integer"),
        ({"days": [True]}, DAYS, "days.0 is a boolean, not integer"),
        ({"unit": "C"}, UNIT, ""),
        ({"unit": "K"}, UNIT, "unit is none of its enum"),
        ({"at": {"lat": 1}}, PLACE, ""),
        ({"at": {}}, PLACE, "at.lat is missing"),
        ({"word": None}, WORDS, ""),
        ({"word": 1}, WORDS, "word is a number, not string"),
        ({"wort": ""}, WORDS, "wort is no key of the tool"),
        ([], CITY, "the whole is an array, not object"),
        (1, {"const": True}, "the whole is not its constant"),
        # Google's spelling, and what it calls optional.
        ({"city": "Oslo"}, {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}, ""),
        ({"city": None}, {"properties": {"city": {"type": "STRING", "nullable": True}}}, ""),
        # What is not understood fits.
        ({"city": 7}, {"properties": {"city": {"type": "postcode"}}}, ""),
        ({"city": 7}, {"properties": {"city": {"$ref": "https://example.com/city"}}}, ""),
        (7, LOOP, ""),
    ],
)
def test_what_surely_does_not_fit_is_reported(value: Any, schema: Any, words: str) -> None:
    assert misfit(value, schema) == words


def test_a_schema_that_nests_without_end_is_followed_so_far() -> None:
    schema: dict[str, Any] = {"items": {"$ref": "#"}}
    value: Any = 7
    for _ in range(200):
        value = [value]
    assert misfit(value, schema) == ""


def test_what_a_schema_asks_for_is_read_with_care() -> None:
    assert required_keys({"required": ["a", 1, "b"]}) == ["a", "b"]
    assert required_keys({"required": "a"}) == []
    assert takes_object({"type": ["Object"]})
    assert not takes_object({"type": ["object", "null"]})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["type", "properties", "items", "required", "enum", "anyOf", "allOf", "$ref", "const", "a"]
)


@given(json_values, st.dictionaries(KEYS, json_values))
def test_no_schema_is_too_strange(value: Any, schema: dict[str, Any]) -> None:
    assert isinstance(misfit(value, schema), str)


TRIP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "stops": {"type": "array", "items": {"$ref": "#/$defs/stop"}},
        "notes": {"type": "object"},
        "by": {"anyOf": [{"type": "null"}, {"properties": {"boat": {}}}]},
    },
    "$defs": {"stop": {"properties": {"harbour": {"description": "not a pier"}}}},
}


@pytest.mark.parametrize(
    ("path", "key", "known"),
    [
        ((), "stops", True),
        ((), "harbour", False),  # a key elsewhere in the schema
        (("stops", 0), "harbour", True),
        (("stops", 0), "pier", False),  # a word of a description
        (("stops", 0), "stops", False),
        (("notes",), "anything", True),  # an object that describes no keys
        (("by",), "boat", True),
        (("by",), "train", False),
        (("elsewhere",), "anything", True),
    ],
)
def test_schema_knows_keys_of_place(path: tuple[str | int, ...], key: str, *, known: bool) -> None:
    place = SchemaPlace.of(TRIP)
    for each in path:
        place = place.under(each) if isinstance(each, str) else place.element
    assert place.knows(key) is known


def test_references_in_a_circle_end() -> None:
    assert SchemaPlace.of(LOOP).under("a").knows("b")
    endless: dict[str, Any] = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}], "properties": {"a": {}}}
    assert not SchemaPlace.of(endless).knows("b")


@pytest.mark.parametrize("schema", [None, [], "object", {"properties": []}])
def test_what_is_no_schema_knows_every_key(schema: Any) -> None:
    assert SchemaPlace.of(schema).knows("a")
