"""Which texts are JSON values: none that costs more memory than its length allows."""

from __future__ import annotations

import pytest

from conformance.core import json_values
from conformance.core.json_values import MOST_DEPTH, NOT_JSON, all_texts, decode_json, repeated_key


@pytest.mark.parametrize(
    ("depth", "is_json"), [(MOST_DEPTH, True), (MOST_DEPTH + 1, False), (9_000_000, False)]
)
def test_what_nests_too_deep_is_no_json(depth: int, is_json: bool) -> None:
    text = f'{" " * 999}{"[" * depth}"["{"]" * depth}'
    assert (decode_json(text) is not NOT_JSON) == is_json


@pytest.mark.parametrize("text", ["[1,2,3]", '[{},{},"a,b"]', '{"a":[],"b":0}'])
def test_what_holds_too_many_values_is_no_json(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert decode_json(text) is not NOT_JSON
    monkeypatch.setattr(json_values, "MOST_VALUES", 2)
    assert decode_json(text) is NOT_JSON


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('{"a":1,"b":{"a":2}}', ""),
        ('{"a":1,"a":1}', "a"),
        ('{"a": 1, "b": [{"c": 1, "c": 2}]}', "c"),
        ('[{"a":1},{"a":2}]', ""),
        # Written in strings, it is no key.
        ('{"a":"\\"b\\":1,\\"b\\":2"}', ""),
        ('{"a":"x\\u0022:1","b":1,"b":2}', "b"),
        ('{"a":"\\" : ","b":0}', ""),
        ("7", ""),
    ],
)
def test_a_key_that_an_object_has_twice_is_found(text: str, key: str) -> None:
    assert repeated_key(text, decode_json(text)) == key


def test_texts_of_a_value_come_in_order_and_keys_are_none() -> None:
    assert list(all_texts({"a": ["x", {"b": "y", "c": 1}], "d": None, "e": "z"})) == ["x", "y", "z"]
