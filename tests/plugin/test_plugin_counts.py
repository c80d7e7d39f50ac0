"""What nothing in an exchange exercises is one gap in the summary, not one for each rule."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import PLAIN, Project


@pytest.mark.slow
def test_rules_that_nothing_exercises_count_once_in_an_exchange(project: Project) -> None:
    project.take(PLAIN, "one.cassette.jsonl")
    project.take(PLAIN, "two.cassette.jsonl")
    project.write("a.conformance.yaml", "cassettes: ['*.jsonl']\nprofile: strict\n")
    result = project.run("-rs")
    outcomes = result.parseoutcomes()
    assert 2 <= outcomes["skipped"] <= 2 * 3
    assert outcomes["passed"] > 20
    told = [line for line in result.outlines if line.startswith("SKIPPED [")]
    assert len(told) <= 3  # pytest puts equal reasons together
    assert any(": VACUOUS " in line and " more of this exchange)" in line for line in told)
    listed = project.run("-v").outlines
    assert sum("SKIPPED" in line for line in listed) > 20


def test_a_gap_that_fails_is_counted_by_itself(project: Project) -> None:
    project.take(PLAIN, "one.cassette.jsonl")
    project.write("a.conformance.yaml", "cassettes: ['*.jsonl']\nprofile: strict\n")
    outcomes = project.run("--conformance-require-exercised").parseoutcomes()
    assert outcomes["failed"] > 20
    assert "skipped" not in outcomes
