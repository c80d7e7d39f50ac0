"""The presets of the reference server do what the published tests of their systems say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from reference_impl.server.settings import LIKENESSES
from tests.each import each
from tests.systems.client_cases import named, rows
from tests.systems.server_cases import SYSTEMS, Case, cases, differences

ALL = [case for system in SYSTEMS for case in cases(system)]
RUNS = [(case, preset) for case in ALL for preset in case.presets]
REASON = 12


@pytest.mark.parametrize(
    ("case", "preset"), RUNS, ids=[f"{case.id}-{preset}" for case, preset in RUNS]
)
def test_a_server_preset_does_what_a_case_says(case: Case, preset: str) -> None:
    assert differences(case, preset) == [], case.says


@each(ALL)
def test_a_case_of_a_server_is_well_made(case: Case) -> None:
    assert case.presets
    assert set(case.presets) <= set(LIKENESSES)
    assert case.says.endswith(".")
    seen = (case.told, case.ends, case.body, case.prompts, case.thinks)
    assert case.tokens or case.lacks or any(each is not None for each in seen)


def test_cases_of_servers_have_names_of_their_own() -> None:
    assert [name for name, count in Counter(case.id for case in ALL).items() if count > 1] == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_published_test_of_a_server_has_a_case_or_a_reason(system: str) -> None:
    known = {case.id for case in cases(system)}
    for row in rows(SYSTEMS[system]):
        assert set(row) <= {"test", "case", "reason"}
        assert ": " in row["test"]
        assert set(named(row)) <= known, row["test"]
        assert named(row) or len(row.get("reason", "")) >= REASON, row["test"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_published_test_of_a_server_stands_twice(system: str) -> None:
    counted = Counter(row["test"] for row in rows(SYSTEMS[system]))
    assert [name for name, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_case_of_a_server_restates_a_test_or_says_why(system: str) -> None:
    restated = {case for row in rows(SYSTEMS[system]) for case in named(row)}
    assert [c.id for c in cases(system) if (c.id in restated) == bool(c.why)] == []


def test_a_case_that_does_not_hold_is_reported() -> None:
    case = next(case for case in ALL if case.id == "neuron-chat-answer")
    (line,) = differences(replace(case, status=404), case.presets[0])
    assert line == "status: wanted 404, came 200"
