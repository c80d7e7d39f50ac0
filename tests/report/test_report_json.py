from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import conformance.schemas
from conformance.judging.result import ContextLine, Finding, Report, StreamResult
from conformance.report.json import render
from conformance.rules.verdicts import Level, Verdict
from tests.report.made import finding, stream

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
ANY_VALUE = st.one_of(ANY_TEXT, st.none(), st.booleans(), st.floats(), st.lists(st.integers()))
FINDINGS = st.builds(
    Finding,
    rule=ANY_TEXT,
    level=st.sampled_from(Level),
    verdict=st.sampled_from([Verdict.FAIL, Verdict.ERROR]),
    event=st.integers(0, 10**9),
    line=st.none() | st.integers(1, 10**9),
    byte=st.none() | st.integers(0, 10**12),
    slice=st.dictionaries(ANY_TEXT, ANY_VALUE, max_size=3),
    expected=st.lists(ANY_TEXT, max_size=3).map(tuple),
    got=ANY_TEXT,
    after=ANY_TEXT,
    message=ANY_TEXT,
    says=ANY_TEXT,
    hint=ANY_TEXT,
    context=st.lists(st.builds(ContextLine, st.integers(0), ANY_TEXT, ANY_TEXT), max_size=3).map(
        tuple
    ),
    source=st.lists(st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2), max_size=2).map(tuple),
    id=ANY_TEXT,
)
STREAMS = st.builds(
    StreamResult,
    file=ANY_TEXT,
    exchange=st.integers(1),
    dialect=ANY_TEXT,
    profile=ANY_TEXT,
    named=st.booleans(),
    verdicts=st.dictionaries(ANY_TEXT, st.sampled_from(Verdict), max_size=4),
    findings=st.lists(FINDINGS, max_size=2).map(tuple),
    reasons=st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2),
    notes=st.lists(ANY_TEXT, max_size=1).map(tuple),
)
REPORTS = st.builds(
    Report, st.lists(STREAMS, max_size=2).map(tuple), st.lists(ANY_TEXT, max_size=2).map(tuple)
)


@pytest.fixture(scope="session")
def schema() -> Any:
    folder = Path(next(iter(conformance.schemas.__path__)))
    text = (folder / "report.schema.json").read_text(encoding="utf-8")
    return jsonschema_rs.Draft202012Validator(json.loads(text))


def test_document_holds_the_whole_finding() -> None:
    document = json.loads(render(Report((stream(finding()),))))
    (entry,) = document["streams"]
    assert entry["verdicts"] == {"summary/lifecycle/part-lifecycle": "FAIL"}
    (found,) = entry["findings"]
    assert found["slice"] == {"output_index": 0, "summary_index": 1}
    assert (found["event"], found["line"], found["byte"]) == (8, 26, 2641)
    assert found["context"][1] == {
        "event": 8,
        "type": "part.done",
        "text": '{"part":{}}',
        "at": True,
    }
    assert set(found) == {*Finding.__struct_fields__, "group"}


def test_groups_are_reported_with_what_they_follow() -> None:
    also = finding(rule="wire/order", level=Level.SHOULD, message="came 3 times", slice={})
    passed = stream(exchange=3, verdicts={also.rule: Verdict.PASS})
    streams = (stream(finding(), also), stream(finding(), finding(event=20), exchange=2), passed)
    document = json.loads(render(Report(streams)))
    cause, effect = document["groups"]
    counted = {"findings": 3, "streams": 2, "judged": 2, "follows": None, "expected": False}
    assert {name: cause[name] for name in counted} == counted
    assert cause["slice"] == ["output_index", "summary_index"]
    assert cause["first"] == {
        "file": "ogx.cassette.jsonl",
        "exchange": 1,
        "view": "wire",
        "finding": "3f2a90",
    }
    assert (effect["follows"], effect["judged"]) == (cause["id"], 2)
    assert effect["message"] == "came … times"
    assert document["streams"][1]["findings"][1]["group"] == cause["id"]


def test_summary_names_every_verdict() -> None:
    document = json.loads(render(Report((stream(verdicts={"a/b/c": Verdict.PASS}),))))
    assert document["summary"] == {str(v): int(v is Verdict.PASS) for v in Verdict}


def test_an_assumed_profile_is_a_warning() -> None:
    document = json.loads(render(Report((stream(named=False),))))
    assert len(document["warnings"]) == 1
    assert document["streams"][0]["named"] is False


@given(report=REPORTS)
def test_any_report_parses_back_and_fits_the_schema(report: Report, schema: Any) -> None:
    text = render(report)
    assert text.isascii()
    assert len(json.loads(text)["streams"]) == len(report.streams)
    # The validator takes UTF-8; half surrogate pairs are legal in JSON text but not there.
    schema.validate(json.loads(text.replace("\\ud", "\\u0")))


BREAKAGES: list[tuple[str, Any]] = [
    ("report", "2.0"),
    ("summary", {"GREEN": 1}),
    ("streams", [{}]),
    ("errors", [1]),
]


@pytest.mark.parametrize(("key", "value"), BREAKAGES)
def test_the_schema_refuses_another_shape(key: str, value: Any, schema: Any) -> None:
    document = json.loads(render(Report((stream(finding()),))))
    assert schema.is_valid(document)
    assert not schema.is_valid(document | {key: value})
    without = {name: each for name, each in document.items() if name != key}
    assert not schema.is_valid(without)
