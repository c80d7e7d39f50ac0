"""Recorded applications beside their recorded providers: what is lost, and no other finding."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from conformance.judging.result import Finding
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.rules.verdicts import Verdict
from tests.captures.upstreams import recorded_pairs
from tests.tables import read_table

HERE: Final = Path(__file__).parent
FINDINGS: Final[dict[str, dict[str, str]]] = read_table(HERE / "hops.yaml")
LOSSES: Final[list[dict[str, Any]]] = read_table(HERE / "losses.yaml")
PROTOCOLS: Final = {
    *("vercel.ui-message-stream", "ag-ui", "claude-code.stream-json", "codex.exec-jsonl", "acp"),
    "codex.app-server",
}

pytestmark = pytest.mark.captures


@pytest.fixture(scope="module")
def found(captures: Path) -> dict[str, tuple[Finding, ...]]:
    rulebook = Rulebook.load(())
    given = {}
    for file, recording in recorded_pairs(captures, PROTOCOLS):
        hides = "sendReasoning_false" in file
        choices = CheckChoices(profile="no-reasoning" if hides else "strict")
        (result,) = check_recording(recording, rulebook, choices)
        assert Verdict.ERROR not in result.verdicts.values()
        given[file] = result.findings
    return given


def test_findings_over_both_hops_are_the_known_ones(found: dict[str, tuple[Finding, ...]]) -> None:
    over_both = {
        file: {each.rule for each in findings if each.rule.startswith("hop/")}
        for file, findings in found.items()
    }
    assert {file: rules for file, rules in over_both.items() if rules} == {
        file: set(rules) for file, rules in FINDINGS.items()
    }


def test_each_shows_the_events_of_both_hops(found: dict[str, tuple[Finding, ...]]) -> None:
    for finding in (each for findings in found.values() for each in findings):
        if finding.rule.startswith("hop/"):
            assert finding.line is not None
            assert finding.upstream is not None
            assert finding.upstream.line is not None
            assert "/apps/" not in finding.upstream.file


@pytest.mark.parametrize("row", LOSSES, ids=lambda row: str(row["upstream"]))
def test_the_table_of_losses(row: dict[str, Any], found: dict[str, tuple[Finding, ...]]) -> None:
    cells = {name: cell for name, cell in row.items() if name not in ("upstream", "only")}
    judged = {file.removeprefix("apps/").rpartition(".")[0]: each for file, each in found.items()}
    lost = {
        name: sorted({finding.rule for finding in judged[name]} & set(row["only"])) or "kept"
        for name in cells
    }
    assert lost == cells
