"""What hangs on no profile is made once; what names something is made for each profile anew."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.rules import sharing
from conformance.rules.patterns import NO_REQUEST, compile_value, schema_test


@pytest.mark.parametrize(
    ("pattern", "is_shared"),
    [
        (None, True),
        ("a", True),
        (["a", {"absent": True}], True),
        ({"type": "string", "pattern": "^a$"}, True),
        ("$knob", False),
        ({"not": ["a", "$knob"]}, False),
        ({"const": "$knob"}, False),
    ],
)
def test_a_pattern_is_shared_unless_it_names_something(pattern: Any, is_shared: bool) -> None:
    one, other = (compile_value(pattern, {"knob": value}) for value in ("a", "b"))
    assert (one is other) is is_shared


def test_values_that_are_equal_but_no_json_twins_are_apart() -> None:
    assert compile_value(1, {})(True, {}, NO_REQUEST) is False
    assert compile_value(True, {})(True, {}, NO_REQUEST) is True


def test_schemas_take_the_knobs_of_each_profile() -> None:
    tests = [schema_test({"const": "$knob"}, {"knob": value}) for value in (1, 2)]
    assert [test.is_valid(2) for test in tests] == [False, True]


def test_no_more_are_kept_than_the_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "MOST_SHARED", 1)
    made = sharing.shared(lambda pattern, _knobs: [pattern])
    assert made("a", {}) is made("a", {})
    assert made("b", {}) is not made("b", {})
