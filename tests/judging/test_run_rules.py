"""Rules that a run adds are rules like others: explained, listed, chosen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conformance.cli import app
from conformance.core.errors import UsageError
from conformance.judging.rulebook import Rulebook
from conformance.judging.run_rules import ADDED_RULES
from conformance.judging.suites import load_suites
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict

RUN = {"target": "server", "deterministic": True, "steps": {"": {"ends": ["length"]}}}
CHUNK = {
    "id": "c",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "delta": {"content": "4"}, "finish_reason": "stop"}],
}


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    lines = (
        {"cassette": "1.0", "dialect": "openai.chat", "profile": "strict", "run": RUN},
        {"request": {"method": "POST", "path": "/v1/chat/completions", "json": {"model": "m"}}},
        {"response": {"status": 200, "headers": [["content-type", "text/event-stream"]]}},
        {"text": f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]\n\n"},
        {"end": "eof"},
    )
    path = tmp_path / "own.cassette.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def output_of(*args: str) -> str:
    result = CliRunner().invoke(app, list(args))
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.one_in(15)
@pytest.mark.parametrize("rule", ADDED_RULES)
def test_each_is_explained(rule: str) -> None:
    text = output_of("explain", rule)
    assert text.startswith(f"{rule}  {ADDED_RULES[rule].level}")
    assert "added by a run" in text


def test_no_suite_states_one() -> None:
    stated = {rule.id for suite in load_suites() for rule in suite.rules}
    assert not stated & ADDED_RULES.keys()


def test_all_are_listed_next_to_those_of_the_suites() -> None:
    listed = json.loads(output_of("list", "rules", "--format", "json"))["rules"]
    assert ADDED_RULES.keys() <= {each["id"] for each in listed}
    of_suite = json.loads(output_of("list", "rules", "--suite", "wire/sse", "--format", "json"))
    assert not ADDED_RULES.keys() & {each["id"] for each in of_suite["rules"]}


def test_one_that_is_chosen_is_judged_alone(recorded: Path) -> None:
    chosen = check_paths([recorded], rules=["scenario/ending"])
    assert chosen.verdicts == {"scenario/ending": Verdict.FAIL}
    assert [each.rule for each in chosen.findings] == ["scenario/ending"]
    assert check_paths([recorded], rules=["harness/ending"]).verdicts == {}
    both = check_paths([recorded], rules=["scenario/ending", "wire/*"]).verdicts
    assert "scenario/ending" in both
    assert all(rule.startswith(("wire/", "scenario/ending")) for rule in both)


def test_they_stay_where_only_rules_of_suites_are_chosen(recorded: Path) -> None:
    assert "scenario/ending" in check_paths([recorded], rules=["wire/*"]).verdicts


def test_a_near_miss_is_reported() -> None:
    with pytest.raises(UsageError, match=r"'harness/endin'.*harness/ending"):
        Rulebook.load((), ["harness/endin"])
