"""What fails as an item is what makes `conformance check` exit 1: no more, and no less."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette import open_recording
from conformance.judging.result import Report
from conformance.judging.rulebook import Rulebook
from conformance.pytest_plugin.folders import folder_name
from conformance.pytest_plugin.items import exchange_outcome
from conformance.pytest_plugin.verdicts import FileVerdicts, ItemOutcome
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.rules.verdicts import Verdict
from tests.sampled import of_every_folder

LEVELS = [(strict, exercised) for strict in (False, True) for exercised in (False, True)]
NAMES = st.text("ab/[]-. é☃\\", min_size=1, max_size=12)


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    rulebook = Rulebook.load()
    return [_report(path, rulebook) for path in of_every_folder()]


def _report(path: Path, rulebook: Rulebook) -> Report:
    return Report(tuple(check_recording(open_recording(path), rulebook, CheckChoices())))


def items(verdicts: FileVerdicts) -> Iterator[ItemOutcome]:
    for stream in verdicts.report.streams:
        for rule in verdicts.rules(stream):
            yield verdicts.outcome(stream, rule)


@pytest.mark.parametrize(("strict", "exercised"), LEVELS)
def test_items_fail_like_check(reports: list[Report], *, strict: bool, exercised: bool) -> None:
    for report in reports:
        verdicts = FileVerdicts(report, strict=strict, require_exercised=exercised)
        code = report.exit_code(strict=strict, require_exercised=exercised)
        failed = any(each.kind == "failed" for each in items(verdicts))
        # An answer that is only an error is nothing: no rule is broken by it, and none passes.
        assert failed is (code not in (0, 5)), report.streams[0].file


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("strict", "exercised"), LEVELS)
def test_exchange_fails_by_item(reports: list[Report], *, strict: bool, exercised: bool) -> None:
    for report in reports:
        verdicts = FileVerdicts(report, strict=strict, require_exercised=exercised)
        for stream in report.streams:
            outcomes = [verdicts.outcome(stream, rule) for rule in verdicts.rules(stream)]
            failed = any(each.kind == "failed" for each in outcomes)
            assert (exchange_outcome(verdicts, stream).kind == "failed") is failed
            assert not (failed and verdicts.passes(stream))


def test_every_finding_is_reported_by_an_item(reports: list[Report]) -> None:
    for report in reports:
        verdicts = FileVerdicts(report)
        found = [finding for each in items(verdicts) for finding in each.findings]
        assert sorted(f.id for f in found) == sorted(f.id for f in report.findings)


def test_only_a_pass_looks_like_one(reports: list[Report]) -> None:
    for report in reports:
        verdicts = FileVerdicts(report)
        for stream in report.streams:
            for rule in verdicts.rules(stream):
                passed = verdicts.outcome(stream, rule).kind == "passed"
                assert passed is (stream.verdicts.get(rule) is Verdict.PASS)


@given(NAMES, NAMES)
def test_no_two_tests_share_a_folder(one: str, other: str) -> None:
    if one != other:
        assert folder_name(f"test_{one}") != folder_name(f"test_{other}")


@given(st.text(max_size=300))
def test_folder_is_one_plain_name(test: str) -> None:
    name = folder_name(test)
    assert 0 < len(name) <= 80
    assert not name.startswith(".")
    assert Path(name).name == name
    assert name.isascii()
