from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest

import conformance.schemas
from conformance.judging.result import (
    AppliedBaseline,
    FindingExcuse,
    Report,
    finding_key,
)
from conformance.report.badge import render
from conformance.rules.verdicts import Level, Verdict
from tests.report.made import finding, stream


def badge(report: Report) -> tuple[str, str, bool]:
    found = json.loads(render(report))
    folder = Path(next(iter(conformance.schemas.__path__)))
    schema = json.loads((folder / "badge.schema.json").read_text(encoding="utf-8"))
    jsonschema_rs.validate(schema, found)
    return found["message"], found["color"], found.get("isError", False)


@pytest.mark.parametrize(
    ("level", "colour"), [(Level.MUST, "red"), (Level.SHOULD, "orange"), (Level.MAY, "yellow")]
)
def test_the_gravest_level_colours_it(level: Level, colour: str) -> None:
    verdicts = {"summary/lifecycle/part-lifecycle": Verdict.FAIL, "a/b/c": Verdict.PASS}
    report = Report((stream(finding(level=level), verdicts=verdicts),))
    assert badge(report) == ("1 of 2 rules fail", colour, False)


def test_it_is_green_only_where_rules_passed() -> None:
    passed = stream(verdicts={"a/b/c": Verdict.PASS, "a/b/d": Verdict.VACUOUS})
    assert badge(Report((passed,))) == ("1 rule passes", "brightgreen", False)
    idle = stream(verdicts={"a/b/d": Verdict.VACUOUS})
    assert badge(Report((idle,)))[:2] == ("nothing exercised", "lightgrey")
    assert badge(Report())[:2] == ("nothing exercised", "lightgrey")


def test_what_could_not_be_judged_is_an_error() -> None:
    expected = ("could not be judged", "lightgrey", True)
    assert badge(Report((stream(),), errors=("x",))) == expected
    assert badge(Report((stream(verdicts={"a/b/c": Verdict.ERROR}),))) == expected


def test_known_failures_are_called_known() -> None:
    verdicts = {"summary/lifecycle/part-lifecycle": Verdict.FAIL, "a/b/c": Verdict.PASS}
    one = stream(finding(), verdicts=verdicts)
    excuses = {finding_key(one, one.findings[0]): FindingExcuse("known", "b.yaml:3")}
    report = Report((one,), baseline=AppliedBaseline("b.yaml", excuses))
    assert badge(report) == ("1 pass, 1 known to fail", "yellowgreen", False)
    stale = Report((one,), baseline=AppliedBaseline("b.yaml", excuses, stale=("gone",)))
    assert badge(stale) == ("1 stale expectation", "orange", False)
