from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.core import shipped
from conformance.core.errors import UsageError
from conformance.judging.rulebook import Rulebook
from conformance.recordings.choices import CheckChoices
from conformance.report.selection import SelectedFinding, select_finding

RULES = Rulebook.load()
MUTANTS = shipped.cassettes() / "mutants"
DEMO = MUTANTS / "demo/summary.cassette.jsonl"
ID = "c0fd0c3cf68d"
GROUP = "dd58f3937d38"
RULE = "stripping/visible-text/no-markers"


def chosen(asked: str, *paths: Path) -> SelectedFinding:
    return select_finding(asked, paths, CheckChoices(), RULES)


@pytest.mark.parametrize(
    "asked", [ID, ID[:4], GROUP, GROUP[:6], RULE, "no-markers", "visible-text/no-markers"]
)
@pytest.mark.parametrize("path", [DEMO, DEMO.parent], ids=["file", "folder"])
def test_a_finding_is_found_by_id_beginning_or_rule(asked: str, path: Path) -> None:
    one = chosen(asked, path)
    assert (one.finding.id, one.finding.rule) == (ID, RULE)
    assert one.recording.path == DEMO
    assert one.choices.profile == one.stream.profile


def test_a_json_report_leads_to_its_files(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert (
        main(
            [
                "check",
                str(DEMO),
                str(shipped.cassettes() / "openai.chat/xai"),
                "-o",
                f"json={report}",
            ]
        )
        == 1
    )
    assert chosen(ID, report).recording.path == DEMO
    assert chosen(GROUP, report).recording.path == DEMO


def test_a_finding_in_several_streams_is_counted(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.cassette.jsonl").write_bytes(DEMO.read_bytes())
    one = chosen(ID, tmp_path)
    assert one.recording.path.name == "a.cassette.jsonl"
    assert one.others == 2


def test_a_json_body_is_a_recording_and_no_report(tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text('{"object":"chat.completion","choices":[]}')
    with pytest.raises(UsageError, match="there is no finding 'ffff'"):
        chosen("ffff", body)


def test_a_name_of_several_rules_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'answer-present' fits .*; which one\?"):
        chosen("answer-present", DEMO)


WRONG: list[tuple[str, str]] = [
    ("ffff", r"no finding 'ffff' \(there are c0fd0c3cf68d \(stripping/"),
    ("c0f", "no finding 'c0f'"),  # too short to mean one
    ("", "no finding ''"),
]


@pytest.mark.parametrize(("asked", "message"), WRONG)
def test_an_unknown_finding_is_refused_with_the_known_ones(asked: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        chosen(asked, DEMO)


def test_a_file_that_cannot_be_judged_is_reported_where_nothing_is_found(tmp_path: Path) -> None:
    broken = tmp_path / "broken.sse"
    broken.write_bytes(b"")
    with pytest.raises(UsageError, match=r"not judged: .*broken\.sse: the file is empty"):
        chosen(ID, broken)
    assert chosen(ID, broken, DEMO).finding.id == ID


@pytest.mark.parametrize(
    "report",
    [
        {"report": "1.0"},
        {"report": "1.0", "streams": 7},
        {"report": "1.0", "streams": [7, {"findings": [{"id": ID}]}, {"file": 7, "findings": 7}]},
        {"report": "1.0", "streams": [{"file": 7, "findings": [{"id": ID}]}]},
    ],
)
def test_a_broken_report_names_no_files(report: object, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report))
    with pytest.raises(UsageError, match=r"not judged: .*report\.json: "):
        chosen(ID, file)


def test_a_report_that_names_a_missing_file_says_so(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    streams = [{"file": str(tmp_path / "gone.sse"), "findings": [{"id": ID}]}]
    file.write_text(json.dumps({"report": "1.0", "streams": streams}))
    with pytest.raises(UsageError, match=r"gone\.sse: cannot be read"):
        chosen(ID, file)
