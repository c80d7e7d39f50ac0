"""The page of applications is what the recorded run gives, and every finding has its reason."""

from __future__ import annotations

import pytest

from conformance.baseline.entries import load_baseline
from tests.live.applications import matrix
from tests.live.applications.hosting import BASELINES, applications
from tests.live.applications.scripted import CHATS

RESULTS = matrix.load_results()


def test_the_page_is_what_the_recorded_run_gives() -> None:
    assert matrix.PAGE.read_text("utf-8") == matrix.page(RESULTS)


def test_every_application_was_run_and_has_a_baseline_of_what_was_found() -> None:
    assert list(RESULTS) == [each.target for each in applications()]
    for target, exchanges in RESULTS.items():
        wanted = {(rule, where) for where, found in exchanges.items() for rule in found}
        known = load_baseline(BASELINES / f"{target}.yaml").entries if wanted else ()
        assert {(each.rule, each.exchange) for each in known} == wanted


def test_every_situation_is_a_row() -> None:
    ran = {name for exchanges in RESULTS.values() for name in exchanges}
    rows = tuple(matrix.SITUATIONS)
    assert {name for name in ran if not name.startswith(rows)} == set()
    assert set(CHATS) <= set(rows)


def test_a_finding_without_a_reason_is_an_error() -> None:
    with pytest.raises(KeyError):
        matrix.Faults().of("hop/order", "another-1.0", "app-answer/turn")


def test_every_reason_is_that_of_a_finding() -> None:
    faults = matrix.Faults()
    used = {
        faults.of(rule, target, where)
        for target, exchanges in RESULTS.items()
        for where, found in exchanges.items()
        for rule in found
    }
    assert [each for each in faults.listed if each not in used] == []
