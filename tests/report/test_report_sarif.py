"""SARIF 2.1.0: what viewers require of a log, as far as this report uses it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest
from hypothesis import given

from conformance.judging.group_id import group_id
from conformance.judging.result import (
    AppliedBaseline,
    FindingExcuse,
    JudgedCall,
    ReferencedEvent,
    Report,
    finding_key,
)
from conformance.recordings.check import check_paths
from conformance.report.sarif import FINGERPRINT, GROUP_FINGERPRINT, render
from conformance.rules.verdicts import Level, Verdict
from tests.report.hostile import hostile_recording
from tests.report.made import finding, stream
from tests.report.test_report_json import REPORTS
from tests.tables import read_table

GAVE: Final = ReferencedEvent(
    "talk.har", 1, 7, 12, 300, "thinking.end", '{"signature":"s"}', "answer", 1
)


SCHEMA: dict[str, Any] = read_table(Path(__file__).with_name("sarif_schema.yaml"))
VALIDATOR = jsonschema_rs.Draft202012Validator(SCHEMA, validate_formats=True)


def run_of(report: Report) -> dict[str, Any]:
    document = json.loads(render(report))
    VALIDATOR.validate(document)
    (run,) = document["runs"]
    assert isinstance(run, dict)
    return run


def test_a_finding_stands_at_its_line_under_a_lasting_id() -> None:
    run = run_of(Report((stream(finding()),)))
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "ogx.cassette.jsonl", "uriBaseId": "SRCROOT"}
    assert place["region"]["startLine"] == 26
    assert place["region"]["snippet"] == {"text": '{"part":{}}'}
    assert result["partialFingerprints"] == {
        FINGERPRINT: "3f2a90",
        GROUP_FINGERPRINT: group_id(finding()),
    }
    assert result["properties"]["slice"] == {"output_index": 0, "summary_index": 1}
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "summary/lifecycle/part-lifecycle"
    assert "A part closes once." in rule["help"]["text"]


@pytest.mark.parametrize(
    ("level", "message"), [(Level.MUST, "error"), (Level.SHOULD, "warning"), (Level.MAY, "note")]
)
def test_levels_are_those_of_the_standard(level: Level, message: str) -> None:
    run = run_of(Report((stream(finding(level=level)),)))
    assert run["results"][0]["level"] == message
    assert run["tool"]["driver"]["rules"][0]["defaultConfiguration"] == {"level": message}


def test_a_file_elsewhere_has_an_absolute_uri() -> None:
    run = run_of(Report((stream(finding(), file="/no where/é#1.sse"),)))
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "file:///no%20where/%C3%A9%231.sse"}


def test_a_stream_that_stands_in_no_file_has_no_physical_place() -> None:
    run = run_of(Report((stream(finding(), file=""),)))
    assert list(run["results"][0]["locations"][0]) == ["logicalLocations"]


def test_what_stands_in_no_line_points_at_the_first() -> None:
    run = run_of(Report((stream(finding(line=None, byte=None, event=0)),)))
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] == 1


def test_an_expected_finding_is_suppressed_not_left_out() -> None:
    one, other = stream(finding()), stream(finding(id="77"), exchange=2)
    excuses = {finding_key(one, one.findings[0]): FindingExcuse("known", "b.yaml:3")}
    run = run_of(Report((one, other), baseline=AppliedBaseline("b.yaml", excuses)))
    unexpected, expected = run["results"]
    assert expected["suppressions"][0]["justification"] == "known (b.yaml:3)"
    assert "suppressions" not in unexpected


def test_a_group_is_one_result_with_all_its_places() -> None:
    also = finding(rule="wire/order", level=Level.SHOULD, id="77")
    streams = tuple(stream(finding(), also, exchange=n) for n in range(1, 203))
    report = Report((stream(finding(), finding(slice={"output_index": 1}), also), *streams))
    cause, effect, other = run_of(report)["results"]
    assert [each["occurrenceCount"] for each in (cause, effect, other)] == [203, 203, 1]
    assert cause["message"]["text"].endswith("(in 203 of 203 streams)")
    assert len(cause["relatedLocations"]) == 100
    group = cause["partialFingerprints"][GROUP_FINGERPRINT]
    assert (effect["properties"]["follows"], cause["properties"]["follows"]) == (group, None)
    whole = json.loads(render(report, verbose=True))
    VALIDATOR.validate(whole)
    # Two exchanges of the file have the same number: a place stands there once.
    assert len(whole["runs"][0]["results"][0]["relatedLocations"]) == 201


def test_a_file_that_could_not_be_judged_is_a_failed_invocation() -> None:
    (invocation,) = run_of(Report((stream(),), errors=("x.sse: is empty",)))["invocations"]
    assert invocation["executionSuccessful"] is False
    assert {"level": "error", "message": {"text": "x.sse: is empty"}} in invocation[
        "toolExecutionNotifications"
    ]


def test_a_message_holds_no_link() -> None:
    run = run_of(Report((stream(finding(message="[x](http://127.0.0.1)", expected=())),)))
    assert "](" not in run["results"][0]["message"]["text"]


def test_rules_are_reported_once() -> None:
    found = [finding(id="1"), finding(slice={}, id="2"), finding(rule="a/b/c", id="3")]
    run = run_of(Report((stream(*found),)))
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert sorted(rules) == ["a/b/c", "summary/lifecycle/part-lifecycle"]
    named = [rules[r["ruleIndex"]] for r in run["results"]]
    assert sorted(named) == sorted(f.rule for f in found)


def test_a_hostile_stream_keeps_the_form(tmp_path: Path) -> None:
    assert run_of(check_paths([hostile_recording(tmp_path)]))["results"]


@given(report=REPORTS)
def test_any_report_fits_the_schema(report: Report) -> None:
    text = render(report)
    assert text.isascii()
    VALIDATOR.validate(json.loads(text.replace("\\ud", "\\u0")))


def test_a_verdict_of_error_is_an_error() -> None:
    found = finding(verdict=Verdict.ERROR, level=Level.MAY)
    run = run_of(Report((stream(found),)))
    assert run["results"][0]["level"] == "error"
    assert run["invocations"][0]["executionSuccessful"] is False


def test_files_that_do_not_stay_are_no_place() -> None:
    streams = (stream(finding()), stream(finding(), exchange=2))
    for kept in (True, False):
        call = JudgedCall("2026-11-23T02:00:00.000+00:00", 1.0, kept=kept)
        [result] = run_of(Report(streams, call=call))["results"]
        places = [*result["locations"], *result["relatedLocations"]]
        assert [("physicalLocation" in place) for place in places] == [kept, kept]


@pytest.mark.parametrize("kept", [True, False])
def test_what_a_finding_is_about_is_its_first_related_place(kept: bool) -> None:
    streams = (stream(finding(upstream=GAVE)), stream(finding(), exchange=2))
    call = JudgedCall("2026-11-23T02:00:00.000+00:00", 1.0, kept=kept)
    [result] = run_of(Report(streams, call=call))["results"]
    first, other = result["relatedLocations"]
    assert first["message"]["text"] == 'answer: thinking.end  {"signature":"s"}'
    assert first["logicalLocations"] == [{"name": "exchange 1, event 7", "kind": "event"}]
    assert ("physicalLocation" in first) == kept
    assert "message" not in other
    if kept:
        assert first["physicalLocation"]["artifactLocation"]["uri"] == "talk.har"
        assert first["physicalLocation"]["region"] == {"startLine": 12}
