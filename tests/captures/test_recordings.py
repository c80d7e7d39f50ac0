"""Real recordings raise no finding under their own profile but known faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.judging.result import Finding
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Level, Verdict
from tests.captures.test_subjects import OTHER
from tests.rules.test_reasons import check_reasons
from tests.tables import read_table

TABLE: list[dict[str, Any]] = read_table(Path(__file__).parent / "table.yaml")
SUMMARY_RULES = (
    "in-reasoning-item",
    "indices-known",
    "item-agrees",
    "part-agrees",
    "part-closed",
    "part-index",
    "part-lifecycle",
    "summary-streamed",
    "text-agrees",
)

pytestmark = pytest.mark.captures


@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row["file"]))
def test_findings_are_the_known_ones(row: dict[str, Any], captures: Path) -> None:
    report = check_paths([captures / row["file"]], profile=row["profile"])
    assert report.errors == ()
    assert Verdict.ERROR not in report.verdicts.values()
    assert {finding.rule for finding in report.findings} == set(row.get("findings", {}))


# Nothing of these names its sender: what strict says of it stands, and a note tells the guess.
UNSURE = {
    "hosted/avian_kimi_text_tool_interleave.sse": "avian",
    "hosted/chatgpt_codex_two_tools.sse": "openai",
    "hosted/snowflake_reasoning_details_only.sse": "snowflake",
    "ogx-1.5.0/chat_text.sse": "ogx",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row["file"]))
def test_findings_without_a_profile_are_known(row: dict[str, Any], captures: Path) -> None:
    (stream,) = check_paths([captures / row["file"]]).streams
    binding = {finding.rule for finding in stream.findings if finding.level is Level.MUST}
    guesses = [note for note in stream.notes if note.startswith("perhaps ")]
    if row["file"] in UNSURE:
        assert binding - set(row.get("findings", {}))
        (note,) = guesses
        assert note.startswith(f"perhaps {UNSURE[row['file']]}, by a guess: ")
    else:
        assert binding <= set(row.get("findings", {}))
    if stream.profile == "strict":
        (strict,) = check_paths([captures / row["file"]], profile="strict").streams
        assert stream.verdicts == strict.verdicts, "a guess changes no verdict"


def test_every_rule_of_the_summary_lifecycle_fires_and_holds(captures: Path) -> None:
    report = check_paths([captures / "hosted/openai_o3mini_summary_4parts.sse"], profile="openai")
    verdicts = report.verdicts
    found = {rule: verdicts[f"summary/lifecycle/{rule}"] for rule in SUMMARY_RULES}
    assert found == dict.fromkeys(SUMMARY_RULES, Verdict.PASS)


# What OGX 1.5.0 is known to do wrong: file, rule, and the event at which it shows.
OGX = [
    # 1: parts and deltas come before the item is announced, content_index 1 before 0.
    ("text.sse", "wire/responses/item-announced", 3),
    ("text.sse", "wire/responses-parts/content-index", 3),
    ("tool.sse", "wire/responses/item-announced", 3),
    ("ronly.sse", "wire/responses/item-announced", 3),
    # 2: two items are announced at output_index 0; a call is added at 0 and done at 1.
    ("text.sse", "wire/responses/item-index-unused", 14),
    ("tool.sse", "wire/responses/item-announced", 13),
    # 3: the reasoning item is announced after the message; the final output turns them round.
    ("text.sse", "wire/responses/reasoning-before-message", 14),
    ("text.sse", "wire/responses/output-agrees", 16),
    # 4: no output_text.done; the summary stands in output_item.done only.
    ("text.sse", "wire/responses-parts/text-part-lifecycle", 10),
    ("text_summary.sse", "summary/lifecycle/summary-streamed", 15),
    # 5: a failed response has lost what the client already saw.
    ("sumfail.sse", "wire/responses/interrupted-output-kept", 13),
    ("midtextcut.sse", "wire/responses/interrupted-items-kept", 8),
    ("cut.sse", "wire/responses/interrupted-items-kept", 5),
    # 6: no event lines.
    ("text.sse", "wire/responses/event-lines", 1),
]


@pytest.mark.parametrize(("file", "rule", "event"), OGX)
def test_ogx_faults_have_their_place(file: str, rule: str, event: int, captures: Path) -> None:
    report = check_paths([captures / "ogx-1.5.0" / file], profile="openai")
    found = [finding for finding in report.findings if finding.rule == rule]
    assert event in [finding.event for finding in found], [
        _finding_line(f) for f in report.findings
    ]


def _finding_line(finding: Finding) -> str:
    return f"{finding.rule} at event {finding.event}: {finding.message}"


@pytest.mark.slow
def test_reasons_hold_for_recordings(monkeypatch: pytest.MonkeyPatch, captures: Path) -> None:
    files = sorted(path for path in captures.rglob("*") if path.is_file())
    check_reasons(monkeypatch, [path for path in files if not path.name.endswith(OTHER)])
