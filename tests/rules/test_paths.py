"""Paths into JSON against a reader that takes one step at a time."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.rules.paths import MISSING, getter, without
from conformance.rules.patterns import same, token

keys = st.sampled_from(["a", "b", "0", "1"])
leaves: st.SearchStrategy[Any] = st.sampled_from([None, True, False, 0, 1, 1.0, -2.5, "", "a"])
values: st.SearchStrategy[Any] = st.recursive(
    leaves, lambda t: st.lists(t, max_size=3) | st.dictionaries(keys, t, max_size=3), max_leaves=10
)
objects = st.dictionaries(keys, values, max_size=4)
segments = st.lists(st.sampled_from(["a", "b", "0", "1", "*"]), min_size=1, max_size=4)


def read(value: Any, path: list[str]) -> Any:
    """What stands at a path: one segment, then the rest."""
    if not path:
        return value
    head, *rest = path
    if head == "*":
        if not isinstance(value, list):
            return MISSING
        found = [read(each, rest) for each in value]
        return [each for each in found if each is not MISSING]
    if isinstance(value, dict):
        return read(value[head], rest) if head in value else MISSING
    if isinstance(value, list) and head.isdigit() and int(head) < len(value):
        return read(value[int(head)], rest)
    return MISSING


@given(objects, segments)
def test_getter_reads_what_stands_there(value: dict[str, Any], path: list[str]) -> None:
    found = getter(".".join(path))(value)
    wanted = read(value, path)
    assert (found is MISSING) == (wanted is MISSING)
    assert found is MISSING or token(found) == token(wanted)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b", 1),
        ("a.c", MISSING),
        ("a.n", None),
        ("l.1.x", 2),
        ("l.7", MISSING),
        ("l.-1", MISSING),
        ("l.*.x", [1, 2]),
        ("l.*", [{"x": 1}, {"x": 2}, {}]),
        ("a.*", MISSING),
        ("s.0", MISSING),
        ("", MISSING),
    ],
)
def test_getter(path: str, found: Any) -> None:
    data = {"a": {"b": 1, "n": None}, "l": [{"x": 1}, {"x": 2}, {}], "s": "text"}
    assert getter(path)(data) == found


def remove(value: Any, path: list[str]) -> None:
    """Deletes in place whatever stands at a path of keys and stars."""
    head, *rest = path
    if isinstance(value, list) and head == "*":
        for each in value:
            if rest:
                remove(each, rest)
    elif isinstance(value, dict) and head in value:
        if rest:
            remove(value[head], rest)
        else:
            del value[head]


masks = st.lists(
    st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=3).filter(
        lambda m: m[-1] != "*"
    ),
    max_size=3,
)


@given(values, masks)
def test_without_takes_away_what_stands_at_the_masks(value: Any, paths: list[list[str]]) -> None:
    before = copy.deepcopy(value)
    wanted = copy.deepcopy(value)
    for path in paths:
        remove(wanted, path)
    assert token(without(value, tuple(map(tuple, paths)))) == token(wanted)
    assert token(value) == token(before)


@given(values, values)
def test_two_values_have_one_token_exactly_if_they_are_the_same(left: Any, right: Any) -> None:
    assert (token(left) == token(right)) == same(left, right)


@given(values)
def test_a_value_is_the_same_as_its_copy(value: Any) -> None:
    assert same(value, copy.deepcopy(value))


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [(1, 1.0, True), (1, True, False), (0, False, False), ("1", 1, False), (None, False, False)],
)
def test_json_equality(left: Any, right: Any, equal: bool) -> None:
    assert same(left, right) is equal
    assert same([{"k": left}], [{"k": right}]) is equal
