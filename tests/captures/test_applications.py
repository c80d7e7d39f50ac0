"""Recordings of what applications send to their users: known faults, and no other finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from tests.tables import read_table

TABLE: list[dict[str, Any]] = read_table(Path(__file__).parent / "applications.yaml")
REQUESTS: list[dict[str, Any]] = read_table(Path(__file__).parent / "application_requests.yaml")
IN_PROCESS = {"openai-agents.stream-events"}
PROTOCOLS = {
    *("vercel.ui-message-stream", "ag-ui", "claude-code.stream-json", "codex.exec-jsonl", "acp"),
    "codex.app-server",
}

pytestmark = pytest.mark.captures


@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row["file"]))
def test_findings_are_the_known_ones(row: dict[str, Any], captures: Path) -> None:
    report = check_paths([captures / row["file"]], profile=row["profile"])
    assert report.errors == ()
    assert Verdict.ERROR not in report.verdicts.values()
    assert {finding.rule for finding in report.findings} == set(row.get("findings", {}))


def test_every_stream_has_a_row_and_every_defect_a_finding(
    captures: Path,
) -> None:
    index = json.loads((captures / "INDEX.json").read_text(encoding="utf-8"))
    recorded = {each["file"]: each for each in index if each.get("protocol") in PROTOCOLS}
    rows = {row["file"]: row for row in TABLE}
    assert rows.keys() == recorded.keys()
    defects = {file for file, each in recorded.items() if each.get("visible_defect")}
    assert {file for file in defects if rows[file].keys() <= {"file", "profile"}} == set()


def indexed(captures: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((captures / "INDEX.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("row", REQUESTS, ids=lambda row: str(row["file"]))
def test_a_request_is_judged_as_history_of_its_dialect(row: dict[str, Any], captures: Path) -> None:
    report = check_paths([captures / row["file"]], dialect=row["dialect"])
    assert report.errors == ()
    assert {finding.rule for finding in report.findings} == set(row.get("findings", {}))
    judged = {each for each, came in report.verdicts.items() if came in ("PASS", "FAIL")}
    kept_nothing = "_abort_" in row["file"] or "_error_" in row["file"]
    assert kept_nothing or any(rule.startswith("history/") for rule in judged), judged


def test_every_request_after_a_round_trip_has_a_row(captures: Path) -> None:
    kind = "provider request after a UI round trip"
    recorded = {each["file"]: each for each in indexed(captures) if each.get("protocol") == kind}
    assert {row["file"] for row in REQUESTS} == recorded.keys()
    defects = {file for file, each in recorded.items() if each.get("visible_defect")}
    assert defects == {row["file"] for row in REQUESTS if "findings" in row}


def test_events_inside_a_process_are_refused_by_name(captures: Path) -> None:
    files = [each["file"] for each in indexed(captures) if each.get("protocol") in IN_PROCESS]
    assert len(files) == 6
    for file in files:
        (error,) = check_paths([captures / file]).errors
        assert "pass inside a process and are no wire" in error
        assert "openai-agents" in error


def test_events_of_langchain_raise_nothing_but_that_one_is_cut(captures: Path) -> None:
    files = [e["file"] for e in indexed(captures) if e.get("protocol") == "langchain.messages"]
    assert len(files) == 9
    for file in files:
        report = check_paths([captures / file], profile="strict")
        assert report.errors == ()
        cut = {"wire/langchain-events/message-finished"} if "_cut_" in file else set()
        assert {finding.rule for finding in report.findings} == cut
