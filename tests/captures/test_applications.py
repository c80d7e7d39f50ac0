"""Recordings of what applications send to their users: known faults, and no other finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict

TABLE: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "applications.yaml").read_text(encoding="utf-8")
)
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


def test_every_stream_has_a_row_and_every_visible_defect_a_finding_or_a_reason(
    captures: Path,
) -> None:
    index = json.loads((captures / "INDEX.json").read_text(encoding="utf-8"))
    recorded = {each["file"]: each for each in index if each.get("protocol") in PROTOCOLS}
    rows = {row["file"]: row for row in TABLE}
    assert rows.keys() == recorded.keys()
    defects = {file for file, each in recorded.items() if each.get("visible_defect")}
    assert {file for file in defects if rows[file].keys() <= {"file", "profile"}} == set()
