from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.judging.result import JudgedCall, Report
from conformance.report.junit import render
from conformance.rules.verdicts import Level, Verdict
from tests.report.made import finding, stream

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)


def cases(report: Report) -> dict[str, ET.Element]:
    root = ET.fromstring(render(report))
    return {case.get("name", ""): case for case in root.iter("testcase")}


def test_a_rule_that_passed_is_a_plain_case() -> None:
    case = cases(Report((stream(verdicts={"a/b/c": Verdict.PASS}),)))["a/b/c"]
    assert list(case) == []
    assert case.get("classname") == "ogx.cassette.jsonl exchange 1"
    assert case.get("file") == "ogx.cassette.jsonl"


def test_a_failure_reports_all_findings_of_its_rule() -> None:
    report = Report((stream(finding(), finding(event=20, id="77")),))
    (failure,) = cases(report)["summary/lifecycle/part-lifecycle"]
    assert failure.tag == "failure"
    assert failure.get("type") == "MUST"
    assert (failure.get("message") or "").startswith("expected text.delta or text.done")
    body = failure.text or ""
    assert "ogx.cassette.jsonl:26 (event 8, byte 2641)" in body
    assert "(event 20, byte 2641)" in body


def test_every_stream_has_its_failure_and_says_in_how_many() -> None:
    streams = (stream(finding()), stream(finding(line=9), exchange=2))
    failures = list(ET.fromstring(render(Report(streams))).iter("failure"))
    first, second = (failure.text or "" for failure in failures)
    assert "\n  in        2 of 2 streams\n" in first
    assert "\n  first     ogx.cassette.jsonl:26 (event 8, byte 2641)\n" in second
    assert "  first " not in first


@pytest.mark.parametrize("verdict", [Verdict.VACUOUS, Verdict.UNTESTABLE, Verdict.INCONCLUSIVE])
def test_what_was_not_judged_is_skipped_with_its_reason(verdict: Verdict) -> None:
    judged = stream(verdicts={"a/b/c": verdict}, reasons={"a/b/c": "no clock"})
    (skipped,) = cases(Report((judged,)))["a/b/c"]
    assert (skipped.tag, skipped.get("message")) == ("skipped", f"{verdict}: no clock")


def test_what_does_not_apply_has_no_case() -> None:
    judged = stream(verdicts={"a/b/c": Verdict.NOT_APPLICABLE, "a/b/d": Verdict.PASS})
    assert list(cases(Report((judged,)))) == ["a/b/d"]


def test_no_two_cases_share_class_and_name() -> None:
    verdicts = {"a/b/c": Verdict.PASS}
    streams = [
        stream(verdicts=verdicts),
        stream(verdicts=verdicts),  # the same file, named twice
        stream(verdicts=verdicts, exchange=2),
        stream(verdicts=verdicts, view="client"),
        stream(verdicts=verdicts, scenario="think", role="plain"),
    ]
    root = ET.fromstring(render(Report(tuple(streams))))
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(names)) == len(names) == 5
    assert names[-1] == (f"{streams[0].dialect} think/plain", "a/b/c")


def test_times_are_those_of_the_call() -> None:
    call = JudgedCall("2026-11-23T02:00:00.000+00:00", 1.25)
    root = ET.fromstring(render(Report((stream(),), call=call)))
    assert (root.get("time"), root.get("timestamp")) == ("1.250", call.started)
    assert all(case.get("time") is not None for case in root.iter("testcase"))


def test_our_own_error_is_an_error() -> None:
    broken = finding(verdict=Verdict.ERROR, level=Level.SHOULD, message="over the cap")
    (error,) = cases(Report((stream(broken),)))[broken.rule]
    assert error.tag == "error"
    assert (error.get("message") or "").startswith("over the cap")


def test_a_file_that_could_not_be_judged_is_an_error() -> None:
    report = Report((stream(),), errors=("x.sse: no such file",))
    (error,) = cases(report)["x.sse: no such file"]
    assert error.tag == "error"


def test_counts_agree_with_the_cases() -> None:
    other = stream(verdicts={"a/b/c": Verdict.VACUOUS, "a/b/d": Verdict.PASS})
    root = ET.fromstring(render(Report((stream(finding()), other), errors=("x: y",))))
    counted = {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counted == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    assert [suite.get("tests") for suite in root.iter("testsuite")] == ["1", "2", "1"]


@pytest.mark.parametrize(
    ("profile", "how"), [("strict", "assumed"), ("openai", "identified, not named,")]
)
def test_a_profile_that_nobody_named_is_reported(profile: str, how: str) -> None:
    streams = (stream(named=False, profile=profile), stream(named=False, profile=profile))
    (errors,) = ET.fromstring(render(Report(streams))).iter("system-err")
    assert f"was {how} for 2 streams" in (errors.text or "")


@given(rule=ANY_TEXT, text=ANY_TEXT, verdict=st.sampled_from(Verdict))
def test_any_text_parses_back(rule: str, text: str, verdict: Verdict) -> None:
    hostile = finding(rule=rule, message=text, got=text, slice={text: text}, hint=text)
    judged = stream(
        hostile,
        file=text,
        dialect=text,
        profile=text,
        named=False,
        verdicts={rule: verdict},
        reasons={rule: text},
    )
    root = ET.fromstring(render(Report((judged,), errors=(text,))))
    assert root.get("tests") == ("1" if verdict is Verdict.NOT_APPLICABLE else "2")
