"""What goes to an issue tracker: small, redacted, and judged as it is written."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette import read
from conformance.cassette.redaction.redact import REDACTED
from conformance.core import shipped
from conformance.core.errors import UsageError
from conformance.core.events import Request
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_paths
from conformance.recordings.choices import CheckChoices
from conformance.report.reduction import SECONDS
from conformance.report.selection import select_finding
from conformance.report.upstream import (
    BODY,
    CASSETTE,
    ISSUE,
    REQUEST,
    curl_line,
    prepare_issue,
    save_issue,
)
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
    assert sorted(written(RULE, DEMO, tmp_path / "out")) == [CASSETTE, ISSUE, REQUEST]
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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
HEADERS = (("content-type", "application/json"), ("authorization", REDACTED), ("host", "x"))


def words(line: str) -> list[str]:
    return shlex.split(line)


def test_a_request_is_a_line_without_keys() -> None:
    line, body = curl_line(
        Request(path="/v1/responses", headers=HEADERS, json={"a": 1}), "openai.responses"
    )
    assert body is None
    assert line == (
        'curl -sN "$BASE_URL"/v1/responses -H "authorization: Bearer $API_KEY"'
        " -H 'content-type: application/json' -d '{\"a\":1}'"
    )


def test_each_dialect_has_its_key() -> None:
    line, _ = curl_line(Request(json={}), "anthropic.messages")
    assert '-H "x-api-key: $API_KEY"' in line


def test_a_request_without_a_body_states_its_method() -> None:
    line, _ = curl_line(Request(method="GET", path="/v1/models"), "openai.chat")
    assert words(line)[:4] == ["curl", "-sN", "-X", "GET"]
    assert "-d" not in words(line)


def test_a_long_body_stands_in_a_file() -> None:
    line, body = curl_line(Request(json={"text": "x" * 5000}), "openai.chat")
    assert line.endswith(f"-d @{BODY}")
    assert body is not None
    assert json.loads(body) == {"text": "x" * 5000}


@given(path=st.text(max_size=20), name=st.text(max_size=9), value=st.text(max_size=20), body=JSON)
def test_no_request_leaves_its_words(path: str, name: str, value: str, body: Any) -> None:
    request = Request(path=f"/{path}", headers=((name, value),), json={"body": body})
    line, _ = curl_line(request, "openai.chat")
    assert line.isprintable()
    parts = words(line)
    assert parts[0:2] == ["curl", "-sN"]
    assert parts[2].startswith("$BASE_URL/")
    assert json.loads(parts[parts.index("-d") + 1]) == {"body": body}


@pytest.mark.parametrize("text", ["$(touch x)", "`touch x`", "'; touch x; '", "\n touch x\n", "\\"])
def test_a_shell_runs_nothing_else(text: str, tmp_path: Path) -> None:
    request = Request(method=text, path=f"/{text}", headers=((text, text),), json={text: text})
    line, _ = curl_line(request, "openai.chat")
    script = line.replace("curl", "printf '%s\\n'", 1)
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert list(tmp_path.iterdir()) == []
    assert done.stdout.splitlines()[0] == "-sN"
