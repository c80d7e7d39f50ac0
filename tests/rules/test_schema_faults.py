"""What breaks a schema, in words: one row per keyword, and forms inside forms."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.rules.paths import MISSING
from conformance.rules.patterns import schema_test
from conformance.rules.schema_faults import schema_fault

ONE_OF_TWO = {"anyOf": [{"required": ["a"]}, {"properties": {"b": {"const": "x"}}}]}
NESTED = {"properties": {"list": {"items": ONE_OF_TWO}}}

ROWS: list[tuple[Any, Any, str, str]] = [
    ({"required": ["a"]}, {}, "a", "a value"),
    ({"properties": {"a": {"required": ["b"]}}}, {"a": {}}, "a.b", "a value"),
    ({"type": "string"}, 1, "", "text"),
    ({"type": ["integer", "null"]}, "1", "", "a whole number or null"),
    ({"type": "boolean"}, 1, "", "true or false"),
    ({"const": "done"}, "x", "", '"done"'),
    ({"enum": ["a", "b", None]}, "x", "", '"a", "b" or null'),
    (
        {"enum": list("abcdefgh")},
        "x",
        "",
        '"a", "b", "c", "d", "e", "f" or one of 2 others',
    ),
    ({"pattern": "^a"}, "b", "", 'text that matches "^a"'),
    ({"minimum": 0}, -1, "", "0 or more"),
    ({"maximum": 2}, 3, "", "2 or less"),
    ({"exclusiveMinimum": 0}, 0, "", "more than 0"),
    ({"exclusiveMaximum": 2}, 2, "", "less than 2"),
    ({"minLength": 1}, "", "", "at least 1 character"),
    ({"maxLength": 2}, "abc", "", "at most 2 characters"),
    ({"items": {"maxItems": 0}}, [[], [1]], "1", "at most 0 elements"),
    ({"minProperties": 1}, {}, "", "at least 1 key"),
    ({"properties": {"a": False}}, {"a": 1}, "a", "nothing"),
    ({"properties": {"a": {}}, "additionalProperties": False}, {"b": 1}, "", 'no key "b"'),
    ({"uniqueItems": True}, [1, 1], "", "elements that differ"),
    ({"not": {"const": "x"}}, "x", "", 'anything but "x"'),
    ({"not": {"enum": ["x", "y"]}}, "y", "", 'anything but "x" or "y"'),
    ({"not": {"type": "null"}}, None, "", "anything but null"),
    ({"not": {"required": ["a"]}}, {"a": 1}, "", "a value that the rule does not exclude"),
    ({"oneOf": [{"type": "string"}, {"type": "null"}]}, 1, "", "text or null"),
    (NESTED, {"list": [{"b": 1}]}, "list.0", 'a value at a or "x" at b'),
    ({"multipleOf": 2}, 3, "", "a value that fits (3 is not a multiple of 2)"),
]


@pytest.mark.parametrize(
    ("schema", "value", "path", "wanted"), ROWS, ids=lambda each: repr(each)[:50]
)
def test_a_fault_in_words(schema: Any, value: Any, path: str, wanted: str) -> None:
    fault = schema_fault(schema_test(schema, {}).first_error(value), json.dumps)
    assert (fault.path, fault.wanted) == (path, wanted)
    assert (fault.value is MISSING) is ("required" in str(schema) and wanted == "a value")
