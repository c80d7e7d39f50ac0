"""The presets of the reference client do what the published tests of their systems say."""

from __future__ import annotations

from collections import Counter

import pytest

from conformance.judging import harness
from conformance.judging.rulebook import Rulebook
from reference_impl.client.likeness import LIKENESSES
from tests.each import each
from tests.systems.client_cases import KINDS, SYSTEMS, Case, cases, named, outcome, rows

ALL = [case for system in SYSTEMS for case in cases(system)]
RUNS = [(case, preset) for case in ALL for preset in case.presets]
REASON = 12


@pytest.mark.parametrize(
    ("case", "preset"), RUNS, ids=[f"{case.id}-{preset}" for case, preset in RUNS]
)
def test_a_preset_does_what_a_case_says(case: Case, preset: str) -> None:
    expected, came = outcome(case, preset)
    assert came == expected, case.says


@pytest.mark.parametrize("preset", LIKENESSES)
@pytest.mark.parametrize("other", LIKENESSES)
def test_cases_distinguish_the_presets(preset: str, other: str) -> None:
    own = [case for case in ALL if preset in case.presets and case.kind in ("request", "store")]
    outcomes = [outcome(case, other) for case in own]
    assert any(came != expected for expected, came in outcomes) == (preset != other)


@each(ALL)
def test_a_case_is_well_made(case: Case) -> None:
    assert case.kind in KINDS
    assert case.presets
    assert set(case.presets) <= set(LIKENESSES)
    assert case.says.endswith(".")


def test_cases_have_names_of_their_own() -> None:
    assert [name for name, count in Counter(case.id for case in ALL).items() if count > 1] == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_published_test_has_a_case_or_a_reason(system: str) -> None:
    known = {case.id for case in ALL}
    for row in rows(system):
        assert set(row) <= {"test", "case", "reason", "contradicts"}
        assert ": " in row["test"]
        assert set(named(row)) <= known, row["test"]
        assert named(row) or len(row.get("reason", "")) >= REASON, row["test"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_published_test_stands_twice(system: str) -> None:
    counted = Counter(row["test"] for row in rows(system))
    assert [name for name, count in counted.items() if count > 1] == []


def test_every_case_restates_a_test_or_says_why_it_is_there() -> None:
    restated = {case for system in SYSTEMS for row in rows(system) for case in named(row)}
    assert [case.id for case in ALL if (case.id in restated) == bool(case.why)] == []


def test_a_contradiction_names_a_rule_and_says_how() -> None:
    rules = {rule.id for rule in (*Rulebook.load(()).rules, *harness.RULES)}
    contradicting = [row for system in SYSTEMS for row in rows(system) if "contradicts" in row]
    assert contradicting
    for row in contradicting:
        assert row["contradicts"] in rules
        assert row["reason"]
