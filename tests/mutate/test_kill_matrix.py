"""The proof: no defect survives, no harmless variation alarms, no rule is dead."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.core.shipped import cassettes
from conformance.editing.operator import Operator
from conformance.judging.rulebook import Rulebook
from conformance.judging.run_rules import ADDED_RULES
from conformance.mutate import (
    OPERATORS,
    Matrix,
    find_operators,
    format_matrix,
    judge_cover,
    judge_matrix,
    matrix_faults,
    open_base,
    shipped_bases,
)
from conformance.mutate.allowances import Allowance, load_allowances
from conformance.rules.verdicts import Level
from tests.mutate.made_matrix import made_matrix

PAGE = Path(__file__).parents[2] / "docs" / "mutation-matrix.md"
BASE = "openai.responses/demo/summary"
DUPLICATE = find_operators("X6-duplicate-delta")[0]
# Harmless, but it claims to be a defect that has to be found.
UNFOUND = replace(find_operators("F6-no-space")[0], must="kill")


def small(operator: Operator, allowances: tuple[Allowance, ...] = ()) -> Matrix:
    base = open_base(cassettes() / f"{BASE}.cassette.jsonl", cassettes())
    return judge_matrix([base], operators=[operator], allowances=allowances)


@cache
def duplicated() -> Matrix:
    return small(DUPLICATE)


def outcomes(found: Matrix, operator: str) -> set[str]:
    return {trial.outcome for trial in found.trials if trial.operator == operator}


@pytest.mark.first
@pytest.mark.every_run
def test_every_operator_is_found_where_it_first_acts() -> None:
    """What its other mutants show, and which rule is dead, only the whole matrix can say."""
    found = list(judge_cover(shipped_bases()))
    assert {each.operator for each in found} == {each.name for each in OPERATORS}
    assert [each for each in found if each.outcome in ("survived", "alarm")] == []


@pytest.mark.slow
@pytest.mark.first
def test_matrix_holds_and_its_page_is_current(tmp_path: Path) -> None:
    """One test in a process of its own, which may fork: the matrix takes minutes of one core."""
    whole = made_matrix(tmp_path / "matrix")
    assert matrix_faults(whole) == [], "no survivor, false alarm, dead rule or stale allowance"
    stale = "stale: conformance mutate --matrix --format markdown > docs/mutation-matrix.md"
    assert PAGE.read_text(encoding="utf-8") == format_matrix(whole, "markdown"), stale
    levels = {rule.id: rule.level for rule in (*Rulebook.load().rules, *ADDED_RULES.values())}
    killers = {rule for trial in whole.of("killed") for rule in trial.killers}
    assert Level.MAY not in {levels[rule] for rule in killers}, "only a binding rule kills"


def test_duplicate_delta_is_killed_by_the_text_that_is_stated() -> None:
    found = duplicated()
    assert outcomes(found, DUPLICATE.name) == {"killed"}
    assert "summary/lifecycle/text-agrees" in found.kills(DUPLICATE.name)


def test_a_survivor_is_reported() -> None:
    found = small(UNFOUND)
    assert outcomes(found, UNFOUND.name) == {"survived"}
    assert any(fault.startswith(f"survivor: {UNFOUND.name}") for fault in matrix_faults(found))


def test_an_allowance_covers_a_survivor() -> None:
    found = small(UNFOUND, (Allowance("F6-*", "for this test", missing="x/y/z"),))
    assert outcomes(found, UNFOUND.name) == {"gap"}


def test_an_allowance_for_the_dead_is_stale() -> None:
    found = small(DUPLICATE, (Allowance("X6-*", "for this test"),))
    assert [each.operator for each in found.stale] == ["X6-*"]


def test_allowances_have_a_reason_and_name_operators() -> None:
    for allowance in load_allowances():
        assert allowance.reason
        assert allowance.operator.startswith("C") or find_operators(allowance.operator)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_every_form_names_operator_and_killer(form: str) -> None:
    shown = format_matrix(duplicated(), form)
    assert DUPLICATE.name in shown
    assert "summary/lifecycle/text-agrees" in shown
