"""What goes to an issue tracker: small, redacted, and judged as it is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cassette import read
from conformance.core import shipped
from conformance.core.errors import UsageError
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_paths
from conformance.recordings.choices import CheckChoices
from conformance.report.reduction import SECONDS
from conformance.report.selection import select_finding
from conformance.report.upstream import CASSETTE, ISSUE, REQUEST, prepare_issue, save_issue
from tests.cassette.sockets import answer, asked, cassette_text
from tests.report.hostile import hostile_recording
from tests.report.test_redacted import KEY, leaking

RULES = Rulebook.load()
DEMO = shipped.cassettes() / "mutants/demo/summary.cassette.jsonl"
RULE = "stripping/visible-text/no-markers"


def written(asked: str, source: Path, folder: Path) -> dict[str, str]:
    issue = prepare_issue(
        select_finding(asked, [source], CheckChoices(), RULES), RULES, seconds=SECONDS
    )
    return {file.name: file.read_text(encoding="utf-8") for file in save_issue(issue, folder)}


def test_the_cassette_fails_the_rule_when_it_is_checked(tmp_path: Path) -> None:
    files = written(RULE, DEMO, tmp_path / "out")
    assert sorted(files) == [CASSETTE, ISSUE, REQUEST]
    report = check_paths([tmp_path / "out" / CASSETTE])
    assert [finding.rule for finding in report.findings] == [RULE]
    assert all(stream.named for stream in report.streams)
    cassette = read(tmp_path / "out" / CASSETTE)
    assert cassette.header.expect == {RULE: "FAIL"}
    assert cassette.sealed


def test_the_issue_says_what_where_why_and_how(tmp_path: Path) -> None:
    text = written(RULE, DEMO, tmp_path)[ISSUE]
    assert text.startswith("# Visible text holds no thinking marker.\n")
    for part in ("## The stream", "## Why it matters", "## To reproduce", "## Versions"):
        assert part in text
    assert f"conformance check {CASSETTE} --rule {RULE}" in text
    assert 'curl -sN "$BASE_URL"/v1/responses' in text
    assert "holds 9 of the 29 recorded events" in text
    assert "event: response.output_text.delta" in text
    assert str(DEMO.parent) not in text


def test_a_raw_stream_need_not_say_what_it_speaks(tmp_path: Path) -> None:
    chunk = {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "</think>"}}]}
    source = tmp_path / "a.sse"
    source.write_text(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n", encoding="utf-8")
    assert "`openai.chat` stream" in written(RULE, source, tmp_path / "out")[ISSUE]
    assert read(tmp_path / "out" / CASSETTE).exchanges[0].body.endswith(b"[DONE]\n\n")


def test_no_secret_leaves(tmp_path: Path) -> None:
    found = check_paths([leaking(tmp_path)]).findings
    files = written(found[0].rule, leaking(tmp_path), tmp_path / "out")
    assert KEY[8:] not in json.dumps(files)


def test_a_hostile_stream_cannot_write_the_issue(tmp_path: Path) -> None:
    source = hostile_recording(tmp_path)
    for number, finding in enumerate(check_paths([source]).findings[:4]):
        text = written(finding.rule, source, tmp_path / str(number))[ISSUE]
        assert all(line.isprintable() for line in text.split("\n"))
        headings = [line for line in text.splitlines() if line.startswith("# ")]
        assert len(headings) == 1
        assert "\n::error" not in text


def test_a_profile_of_ones_own_goes_along(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("profile: own\ndialect: openai.responses\nextends: strict\ntitle: Own\n")
    one = select_finding(RULE, [DEMO], CheckChoices(profile=str(own)), RULES)
    assert one.stream.profile == "own"
    files = save_issue(prepare_issue(one, RULES, seconds=5), tmp_path / "out")
    assert "own.yaml" in [file.name for file in files]
    text = (tmp_path / "out" / ISSUE).read_text(encoding="utf-8")
    assert f"--rule {RULE} --profile own.yaml" in text
    report = check_paths([tmp_path / "out" / CASSETTE], profile=str(tmp_path / "out/own.yaml"))
    assert [finding.id for finding in report.findings] == [one.finding.id]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    issue = prepare_issue(select_finding(RULE, [DEMO], CheckChoices(), RULES), RULES, seconds=0)
    with pytest.raises(UsageError, match="cannot be made: "):
        save_issue(issue, tmp_path / "file" / "out")
    assert "not fully reduced" in issue.summary


def test_a_message_of_a_websocket_has_no_curl_command(tmp_path: Path) -> None:
    talk = [asked(), *answer(), answer()[-1]]
    source = tmp_path / "ws.cassette.jsonl"
    source.write_text(cassette_text(talk), encoding="utf-8")
    files = written("wire/responses/terminal-once", source, tmp_path / "out")
    assert sorted(files) == [CASSETTE, ISSUE, "request.json"]
    assert json.loads(files["request.json"]) == talk[0][1]
    assert "a message of a WebSocket at `/v1/responses`" in files[ISSUE]
    report = check_paths([tmp_path / "out" / CASSETTE])
    assert "wire/responses/terminal-once" in {finding.rule for finding in report.findings}
