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
from conformance.pytest_plugin.items import whole
from conformance.pytest_plugin.verdicts import Account, Told
from conformance.recordings.check import Choices, check_recording
from conformance.rules.verdicts import Verdict
from tests.plugin.conftest import CASSETTES

MUTANTS = sorted((CASSETTES / "mutants").rglob("*.cassette.jsonl"))
GOOD = sorted((CASSETTES / "openai.responses").rglob("*.cassette.jsonl"))
LEVELS = [(strict, exercised) for strict in (False, True) for exercised in (False, True)]
NAMES = st.text("ab/[]-. é☃\\", min_size=1, max_size=12)


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    rulebook = Rulebook.load()
    return [_report(path, rulebook) for path in [*MUTANTS, *GOOD]]


def _report(path: Path, rulebook: Rulebook) -> Report:
    return Report(tuple(check_recording(open_recording(path), rulebook, Choices())))


def items(account: Account) -> Iterator[Told]:
    for stream in account.report.streams:
        for rule in account.rules(stream):
            yield account.told(stream, rule)


@pytest.mark.parametrize(("strict", "exercised"), LEVELS)
def test_items_fail_where_check_exits_1(
    reports: list[Report], *, strict: bool, exercised: bool
) -> None:
    for report in reports:
        account = Account(report, strict=strict, require_exercised=exercised)
        code = report.exit_code(strict=strict, require_exercised=exercised)
        failed = any(told.outcome == "failed" for told in items(account))
        assert failed is (code != 0), report.streams[0].file


@pytest.mark.parametrize(("strict", "exercised"), LEVELS)
def test_whole_exchanges_fail_where_one_of_their_items_does(
    reports: list[Report], *, strict: bool, exercised: bool
) -> None:
    for report in reports:
        account = Account(report, strict=strict, require_exercised=exercised)
        for stream in report.streams:
            told = [account.told(stream, rule) for rule in account.rules(stream)]
            failed = any(each.outcome == "failed" for each in told)
            assert (whole(account, stream).outcome == "failed") is failed
            assert not (failed and account.passes(stream))


def test_every_finding_is_told_by_an_item(reports: list[Report]) -> None:
    for report in reports:
        account = Account(report)
        told = [finding for each in items(account) for finding in each.findings]
        assert sorted(f.id for f in told) == sorted(f.id for f in report.findings)


def test_only_a_pass_looks_like_one(reports: list[Report]) -> None:
    for report in reports:
        account = Account(report)
        for stream in report.streams:
            for rule in account.rules(stream):
                passed = account.told(stream, rule).outcome == "passed"
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
