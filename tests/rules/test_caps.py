"""Hostile streams cost bounded memory and time: beyond a cap a rule ends with ERROR."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.rules import judge
from conformance.rules.forms import fold_collect, values
from conformance.rules.verdicts import Verdict


def verdict(run_rules: Any, rule: dict[str, Any], rows: list[Any]) -> tuple[Verdict, str]:
    outcome = run_rules({"rule": rule}, rows)[0]
    return outcome.verdict, outcome.reason


def wire(kind: str, datas: list[Any], first: int = 1) -> list[Any]:
    return [(number, "wire", kind, data) for number, data in enumerate(datas, first)]


def test_slices_are_capped(run_rules: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "MOST_SLICES", 10)
    rule = {"slice": ["i"], "grammar": "a*"}
    assert verdict(run_rules, rule, wire("a", [{"i": i} for i in range(10)]))[0] is Verdict.PASS
    many = wire("a", [{"i": i} for i in range(11)])
    assert verdict(run_rules, rule, many) == (Verdict.ERROR, "more than 10 slices")


def test_unsliced_events_are_capped(run_rules: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "MOST_VISITS", 100)
    monkeypatch.setattr(judge, "FREE_VISITS", 9)
    opened = wire("a", [{"i": i} for i in range(10)])
    rule = {"slice": ["i"], "grammar": "a b*"}
    assert verdict(run_rules, rule, opened + wire("b", [{}] * 10, 11))[0] is Verdict.PASS
    found, reason = verdict(run_rules, rule, opened + wire("b", [{}] * 11, 11))
    assert (found, "lack a slice field" in reason) == (Verdict.ERROR, True)


def test_a_fold_is_capped(run_rules: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_collect, "MOST_BYTES", 160)
    rule = {"fold": {"over": "a", "take": "t", "at_least": 1}}
    assert verdict(run_rules, rule, wire("a", [{"t": "x" * 160}]))[0] is Verdict.PASS
    found, reason = verdict(run_rules, rule, wire("a", [{"t": "x" * 161}]))
    assert (found, reason) == (Verdict.ERROR, "a fold grew beyond 160 bytes")


@pytest.mark.parametrize("how", ["list", "count", "sum"])
def test_fold_parts_are_capped(run_rules: Any, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr(fold_collect, "MOST_PARTS", 10)
    rule = {"fold": {"over": "a", "take": "t", "with": how, "at_least": 1}}
    assert verdict(run_rules, rule, wire("a", [{"t": 1}] * 10))[0] is Verdict.PASS
    assert verdict(run_rules, rule, wire("a", [{"t": 1}] * 11))[0] is Verdict.ERROR


def test_repeated_comparison_is_capped(run_rules: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_collect, "MOST_WORK", 1_000)
    rule = {"fold": {"over": "a", "take": "t", "with": "json", "at": "b"}}
    opened = wire("a", [{"t": '"' + "x" * 97 + '"'}])
    assert verdict(run_rules, rule, opened + wire("b", [{}] * 10, 2))[0] is Verdict.PASS
    found, reason = verdict(run_rules, rule, opened + wire("b", [{}] * 11, 2))
    assert (found, reason) == (Verdict.ERROR, "a large fold is compared too often")


def test_distinct_values_are_capped(run_rules: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MOST_VALUES", 10)
    rule = {"values": {"of": "a", "path": "v", "are": "distinct"}}
    found, reason = verdict(run_rules, rule, wire("a", [{"v": i} for i in range(11)]))
    assert (found, reason) == (Verdict.ERROR, "more than 10 distinct values")


def test_long_distinct_values_are_distinguished_at_their_end(run_rules: Any) -> None:
    rule = {"values": {"of": "a", "path": "v", "are": "distinct"}}
    long = [{"v": "x" * 10_000 + end} for end in "ab"]
    assert verdict(run_rules, rule, wire("a", long))[0] is Verdict.PASS


def test_long_slice_fields_are_distinguished_at_their_end(run_rules: Any) -> None:
    rule = {"slice": ["i"], "grammar": "a b?"}
    long = [{"i": "x" * 10_000 + end} for end in "ab"]
    assert verdict(run_rules, rule, wire("a", long))[0] is Verdict.PASS


@pytest.mark.slow
def test_grammar_states_are_capped(run_rules: Any) -> None:
    seed, rows = 1, []
    for number in range(1, 20_000):
        seed = seed * 48_271 % (2**31 - 1)
        rows.append((number, "wire", "ab"[seed >> 7 & 1]))
    found, reason = verdict(run_rules, {"grammar": "(a | b)* a (a | b){13}"}, rows)
    assert (found, reason) == (Verdict.ERROR, "grammar met more than 4096 states")


def test_capped_rule_ends_no_other_rule(run_rules: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MOST_VALUES", 1)
    rules = {
        "capped": {"values": {"of": "a", "path": "v", "are": "distinct"}},
        "other": {"values": {"of": "a", "path": "v", "are": "rising"}},
    }
    outcomes = run_rules(rules, wire("a", [{"v": i} for i in range(3)]))
    assert [outcome.verdict for outcome in outcomes] == [Verdict.ERROR, Verdict.PASS]


def test_needles_of_another_fold_are_bounded(run_rules: Any) -> None:
    rule = {"fold": {"over": "a", "take": "t", "lacks": {"over": "b", "take": "t", "at_least": 4}}}
    rows = []
    for number in range(1, 400, 2):
        rows.append((number, "wire", "b", {"t": f"thought {number} " * 1000}))
        rows.append((number + 1, "wire", "a", {"t": "said"}))
    assert verdict(run_rules, rule, rows)[0] is Verdict.PASS
    leaked = [*rows, (500, "wire", "a", {"t": "thought 1 " * 1000})]
    assert verdict(run_rules, rule, leaked)[0] is Verdict.FAIL


def test_contained_lists_are_looked_through_once(run_rules: Any) -> None:
    rule = {
        "fold": {"over": "a", "take": "v", "with": "list", "contains": {"in": "b", "path": "v"}}
    }
    ids = [f"id{i}" for i in range(20_000)]
    rows = [*wire("a", [{"v": i} for i in ids]), (30_000, "wire", "b", {"v": ids})]
    assert verdict(run_rules, rule, rows)[0] is Verdict.PASS


def test_a_pattern_that_backtracks_elsewhere_is_harmless(run_rules: Any) -> None:
    rule = {"fold": {"over": "a", "take": "t", "matches": "^(a+)+(a|aa)*$"}}
    assert verdict(run_rules, rule, wire("a", [{"t": "a" * 200_000 + "b"}]))[0] is Verdict.FAIL
