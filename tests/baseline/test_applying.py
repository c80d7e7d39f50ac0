"""What is expected is excused, and whatever no longer holds fails the run."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from conformance.baseline.applying import apply_baseline
from conformance.baseline.entries import Baseline
from conformance.judging.group_id import group_id
from conformance.judging.result import Report
from conformance.report import render
from conformance.rules.verdicts import Level, Verdict
from tests.baseline.runs import OTHER, RULE, TODAY, applied, entry, finding, sides, stream


def test_a_listed_violation_is_expected() -> None:
    report = applied([stream(finding())], entry())
    assert report.exit_code() == 0
    assert report.unexpected == ()
    assert report.baseline is not None
    assert report.baseline.stale == ()


@pytest.mark.parametrize("level", Level)
def test_an_unlisted_violation_of_any_level_fails(level: Level) -> None:
    report = applied([stream(finding(), finding(OTHER, "f2", level))], entry())
    assert [each.rule for each in report.unexpected] == [OTHER]
    assert report.exit_code() == 1


STALE: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    # changes of the entry, verdicts of the run, what the report says
    ({}, {RULE: Verdict.PASS}, "passes now"),
    ({}, {RULE: Verdict.INCONCLUSIVE}, "is INCONCLUSIVE now"),
    ({}, {RULE: Verdict.VACUOUS}, "is VACUOUS now"),
    ({}, {RULE: Verdict.NOT_APPLICABLE}, "is NOT-APPLICABLE now"),
    ({"flaky": "1/3"}, {RULE: Verdict.UNTESTABLE}, "is UNTESTABLE now"),
    ({"rule": "a/b/cc"}, {RULE: Verdict.FAIL}, "names a rule that does not exist (did you mean"),
    ({"rule": "wire/chat/done-once"}, {RULE: Verdict.FAIL}, "was not selected"),
    ({"target": "ogx-1.5.1"}, {RULE: Verdict.FAIL}, "(did you mean 'ogx-1.5.0'?)"),
    ({"exchange": "test"}, {RULE: Verdict.FAIL}, "(did you mean 'text'?)"),
    ({"finding": "f9"}, {RULE: Verdict.FAIL}, "f9 was expected, f1 came"),
    ({"until": date(2026, 11, 19)}, {RULE: Verdict.FAIL}, "was expected until 2026-11-19 only"),
]


@pytest.mark.parametrize(("changes", "verdicts", "message"), STALE)
def test_an_entry_that_does_not_describe_the_run_is_stale(
    changes: dict[str, Any], verdicts: dict[str, Verdict], message: str
) -> None:
    found = [finding()] if verdicts[RULE] is Verdict.FAIL else []
    report = applied([stream(*found, verdicts=verdicts)], entry(**changes))
    assert report.baseline is not None
    (line,) = report.baseline.stale
    assert line.startswith("known.yaml:2:5: ")
    assert message in line
    assert report.exit_code() == 1


HOLDS: list[tuple[dict[str, Any], Verdict]] = [
    ({"flaky": "1/3"}, Verdict.PASS),
    ({"flaky": "1/3"}, Verdict.FAIL),
    ({"flaky": "1/3"}, Verdict.INCONCLUSIVE),
    ({"until": TODAY}, Verdict.FAIL),
    ({"finding": "f1"}, Verdict.FAIL),
    ({"exchange": "1"}, Verdict.FAIL),
    ({"exchange": "think/plain"}, Verdict.FAIL),
]


@pytest.mark.parametrize(("changes", "verdict"), HOLDS)
def test_an_entry_that_describes_the_run_holds(changes: dict[str, Any], verdict: Verdict) -> None:
    found = [finding()] if verdict is Verdict.FAIL else []
    judged = stream(*found, verdicts={RULE: verdict}, scenario="think", role="plain")
    assert applied([judged], entry(**changes)).exit_code() == 0


def test_a_pinned_entry_excuses_its_own_finding_only() -> None:
    report = applied([stream(finding(), finding(id_="f2"))], entry(finding="f1"))
    assert [each.id for each in report.unexpected] == ["f2"]
    assert report.exit_code() == 1


def test_an_error_is_never_excused() -> None:
    judged = stream(verdicts={RULE: Verdict.ERROR})
    assert applied([judged], entry()).exit_code() == 4
    assert applied([judged], entry(flaky="1/2")).exit_code() == 4


def test_an_unreadable_file_is_never_excused() -> None:
    report = Report((stream(finding()),), errors=("x.sse: is empty",))
    assert apply_baseline(report, Baseline("b", (entry(),)), today=TODAY).exit_code() == 2


def test_an_entry_that_names_several_exchanges_describes_all_of_them() -> None:
    two = [stream(finding()), stream(file="ogx/tool.sse")]
    report = applied(two, entry("1"))
    assert report.baseline is not None
    assert "passes now: take the entry out (ogx/tool.sse)" in report.baseline.stale[0]


def test_views_of_an_exchange_count_as_one() -> None:
    client = stream(finding(), view="client")
    wire = stream(verdicts={RULE: Verdict.NOT_APPLICABLE})
    assert applied([wire, client], entry()).exit_code() == 0


def test_a_recording_without_a_target_has_that_of_the_baseline_or_its_own_name() -> None:
    bare = stream(finding(), target="")
    named = apply_baseline(Report((bare,)), Baseline("b", (entry(),), "ogx-1.5.0"), today=TODAY)
    assert named.exit_code() == 0
    assert applied([bare], entry("1", target="text")).exit_code() == 0


def test_stale_entries_of_one_fault_are_one_line() -> None:
    streams = [stream(file=f"ogx/{name}.sse") for name in ("a", "b", "c")]
    report = applied(streams, *(entry(name) for name in ("a", "b", "c")), entry("gone"))
    assert report.baseline is not None
    assert len(report.baseline.stale) == 4
    first, other = report.baseline.stale_groups
    assert first.endswith("ogx-1.5.0 a passes now: take the entry out (and 2 more like it)")
    assert "gone names an exchange that was not checked" in other
    assert render(report, "text").count("stale: ") == 2
    assert render(report, "text", verbose=True).count("stale: ") == 4
    assert len(json.loads(render(report, "json"))["stale"]) == 4


def test_reports_show_what_was_expected() -> None:
    report = applied([stream(finding())], entry(), entry("gone"))
    brief, whole = render(report, "text"), render(report, "text", verbose=True)
    assert "expected  It is known. (known.yaml:2:5)" in whole
    assert "It is known." not in brief
    assert "stale: known.yaml:2:5: a/b/c in ogx-1.5.0 gone names an exchange" in brief
    assert brief.endswith("1 finding, 1 of them expected; 1 stale entry\n")
    document = json.loads(render(report, "json"))
    assert document["expected"][0] == {
        "file": "ogx/text.sse",
        "exchange": 1,
        "view": "wire",
        "rule": RULE,
        "finding": "f1",
        "reason": "It is known.",
        "entry": "known.yaml:2:5",
    }
    assert len(document["stale"]) == 1
    junit = render(report, "junit")
    assert '<skipped message="expected failure: It is known."' in junit
    assert 'failures="1"' in junit


@pytest.mark.parametrize("name", ["think/plain", "think/plain/downstream"])
def test_the_far_side_of_a_gateway_is_called_by_its_step_alone_too(name: str) -> None:
    assert applied(sides(downstream=finding()), entry(name)).exit_code() == 0


def test_the_near_side_of_a_gateway_is_called_by_its_hop() -> None:
    both = sides(upstream=finding())
    assert applied(both, entry("think/plain/upstream")).exit_code() == 0
    assert applied(both, entry("think/plain")).exit_code() == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"rule": "a/*"},
        {"exchange": "*"},
        {"exchange": "te*"},
        {"target": "ogx-*"},
        {"rule": "*", "target": "*", "exchange": "*"},
        {"exchange": "*", "finding": "f1"},
        {"exchange": "*", "finding": group_id(finding())},
    ],
)
def test_a_star_stands_for_any_text(changes: dict[str, Any]) -> None:
    passing = stream(file="ogx/tool.sse")
    report = applied([stream(finding()), passing], entry(**changes))
    assert report.baseline is not None
    assert report.unexpected == ()
    assert (report.baseline.stale, report.baseline.repaired) == ((), ())
    assert report.exit_code() == 0


@pytest.mark.parametrize(
    "changes", [{"rule": "x/*"}, {"exchange": "z*"}, {"exchange": "*", "finding": "other"}]
)
def test_a_star_that_fits_no_violation_is_stale(changes: dict[str, Any]) -> None:
    report = applied([stream(finding())], entry(**changes))
    assert report.baseline is not None
    assert report.baseline.stale[0].endswith("fits no violation now: take the entry out")
    assert report.exit_code() == 1


def test_a_flaky_star_may_fit_nothing() -> None:
    report = applied([stream()], entry(exchange="*", flaky="1/3"))
    assert report.baseline is not None
    assert (report.baseline.stale, report.baseline.repaired) == ((), ())
