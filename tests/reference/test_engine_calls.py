from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.server.engine.calls import read_call

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ('{"name": "add", "arguments": {"a": 1}}', ("add", '{"a": 1}')),
        ('\n{"name":"add","arguments":{ "a" : 1.0e1 }}\n', ("add", '{ "a" : 1.0e1 }')),
        ('{"arguments": {}, "name": "add"}', ("add", "{}")),
        ('{"name": "add"}', ("add", "{}")),
        ('{"name": "add", "parameters": {"a": [1]}}', ("add", '{"a": [1]}')),
        ('{"name": "add", "arguments": "{\\"a\\": 1}"}', ("add", '{"a": 1}')),
        ('{"name": "add", "arguments": {"a": "}</tool"}}', ("add", '{"a": "}</tool"}')),
        ('{"type": "function", "name": "add", "arguments": {}}', ("add", "{}")),
    ],
)
def test_call_keeps_the_arguments_as_written(text: str, call: tuple[str, str]) -> None:
    assert read_call(text) == call


@pytest.mark.parametrize(
    "text",
    [
        "",
        "add(1)",
        "{}",
        "[]",
        "{name: 1}",
        "{1: 2}",
        '{"name": "add", "arguments": {"a": 1}',
        '{"name": "add", "arguments": {"a": 1}} and more',
        '{"name": "add" "arguments": {}}',
        '{"name": "add",}',
        '{"name": "", "arguments": {}}',
        '{"name": 7, "arguments": {}}',
        '{"name": "add", "arguments": [1]}',
        '{"name": "add", "arguments": "one"}',
        '{"name": "add", "arguments": {"a": NaN}}',
        '{"name": "\\ud800", "arguments": {}}',
        '{"name": "add", "arguments": ' + "[" * 100_000,
        '{"name": "add", "arguments": {"a": ' + "9" * 5000 + "}}",
    ],
    ids=lambda text: text[:40],
)
def test_anything_else_is_no_call(text: str) -> None:
    assert read_call(text) is None


@given(
    st.text(st.characters(codec="utf-8"), min_size=1),
    st.dictionaries(st.text(st.characters(codec="utf-8")), JSON),
    st.sampled_from([None, 2]),
)
def test_every_written_call_is_read(
    name: str, arguments: dict[str, object], indent: int | None
) -> None:
    text = json.dumps({"name": name, "arguments": arguments}, indent=indent)
    call = read_call(text)
    assert call is not None
    assert (call[0], json.loads(call[1])) == (name, arguments)
    assert call[1] in text
