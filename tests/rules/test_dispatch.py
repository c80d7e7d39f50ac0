"""What is remembered of conditions and slices changes no outcome."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.core.events import Event
from conformance.rules.applies import Evidence
from conformance.rules.judge import Judge
from conformance.rules.paths import MISSING
from conformance.rules.patterns import compile_value, is_shallow, texts_spelled
from conformance.rules.rule_set import RuleSet
from tests.oracle import OracleJudge
from tests.rules.conftest import suite_of

texts = st.sampled_from(["", "a", "abcd", "abcde", "vwxyz", "\u8c46\u8c46\u8c46\u8c46\u8c46"])
constants = st.none() | st.booleans() | st.integers(0, 1) | st.just(1.0) | texts
values = st.recursive(
    constants,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)
keywords = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "array", "object", ["null", "array"]]),
        "minLength": st.integers(0, 2),
        "maxLength": st.integers(0, 1),
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(0, 1),
        "minProperties": st.integers(0, 2),
        "pattern": st.just("^a"),
        "const": st.just("abcde"),
    },
).filter(bool)
patterns = st.recursive(
    constants | keywords | st.just({"absent": True}),
    lambda inner: st.lists(inner, min_size=1, max_size=2) | inner.map(lambda p: {"not": p}),
    max_leaves=3,
)


def kind_of(value: Any, spelled: tuple[str, ...]) -> object:
    """Values of one kind get one answer from a shallow pattern."""
    if isinstance(value, str) and value in spelled:
        return value
    return (type(value), bool(value)) if isinstance(value, str | list | dict) else None


@pytest.mark.slow
@settings(deadline=None, max_examples=1000, derandomize=True)
@given(patterns, st.lists(values, min_size=2, max_size=8))
def test_shallow_patterns_tell_no_values_of_a_kind_apart(pattern: Any, data: list[Any]) -> None:
    if not is_shallow(pattern):
        return
    test = compile_value(pattern, {})
    answers: dict[object, bool] = {}
    for value in data:
        kind = kind_of(value, texts_spelled(pattern))
        if kind is not None:
            assert answers.setdefault(kind, test(value, {}, None)) == test(value, {}, None)  # type: ignore[arg-type]


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.lists(patterns, min_size=1, max_size=3), st.lists(values | st.just(MISSING), max_size=9))
def test_remembered_answers_are_those_that_would_be_given(wanted: list[Any], data: Any) -> None:
    """One rule set over many values, so that the later ones meet what was remembered."""
    names = {f"n{at}": {"type": "a", "v": pattern} for at, pattern in enumerate(wanted)}
    rules = {f"r{at}": {"never": f"n{at}"} for at in range(len(wanted))}
    compiled = RuleSet(suite_of(rules, names).rules, {})
    for value in data:
        event = Event("a", {} if value is MISSING else {"v": value}, 1, "wire")
        verdicts = []
        for judge in (Judge(compiled, Evidence()), OracleJudge(compiled, Evidence())):
            judge.read(event)
            verdicts.append([(each.verdict, each.reason) for each in judge.close("eof")])
        assert verdicts[0] == verdicts[1]


def test_the_slice_opened_first_has_what_is_unclear(
    run_rules: Any,
) -> None:
    """Another rule may have opened the slices in another order."""
    rules = {
        "other": {"slice": ["i"], "grammar": "c*"},
        "pairs": {"slice": ["i"], "grammar": "a b"},
    }
    rows = [(1, "wire", "c", {"i": 2}), (2, "wire", "a", {"i": 1}), (3, "wire", "a", {"i": 2})]
    assert "(event 2)" in run_rules(rules, rows, {"end": "reset"})[1].reason
