"""`conformance.yaml` of the root folder in a test run: what it says, and what wins over it."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import BROKEN, PLAIN, SUMMARY, Project, counts

SPEC = "cassettes: [one.cassette.jsonl]\nitems: exchange\n"
OWN = """\
suite: own
title: Ours
rules:
  - id: never-speaks
    level: MUST
    says: An answer has no text.
    since: 0.1.0
    never: text.delta
"""
BASELINE = """\
entries:
  - {rule: summary/lifecycle/text-agrees, target: demo, exchange: 1, reason: it is known}
"""
TEST = """\
from conformance import assert_conforms

def test_it(conformance_trace):
    assert_conforms(conformance_trace("one.cassette.jsonl"))
"""


def test_suites_of_the_project_judge_where_nobody_names_any(project: Project) -> None:
    project.take(SUMMARY, "one.cassette.jsonl")
    project.write("rules/own.yaml", OWN)
    project.write("a.conformance.yaml", SPEC)
    project.write("test_it.py", TEST)
    counts(project.run(), passed=2)
    project.write("conformance.yaml", "suites: [rules]\n")
    result = project.run()
    counts(result, failed=2)
    result.stdout.fnmatch_lines(["conformance: conformance.yaml sets suites", "*own/never-speaks*"])


def test_a_spec_file_and_a_call_that_name_suites_win(project: Project) -> None:
    project.take(SUMMARY, "one.cassette.jsonl")
    project.write("rules/own.yaml", OWN)
    project.write("conformance.yaml", "suites: [rules]\n")
    project.write("a.conformance.yaml", f"suites: [summary]\n{SPEC}")
    project.write("test_it.py", TEST.replace('jsonl"))', "jsonl\"), 'summary')"))
    counts(project.run(), passed=2)


@pytest.mark.parametrize("folder", ["", "sub"])
def test_project_baseline(project: Project, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    project.take(BROKEN, "one.cassette.jsonl")
    project.write("a.conformance.yaml", f"suites: [summary/lifecycle]\n{SPEC}")
    project.write("pytest.ini", "[pytest]\n")
    (project.path / "sub").mkdir()
    counts(project.run(), failed=1)
    project.write("expected.yaml", BASELINE)
    project.write("conformance.yaml", "expected-failures: expected.yaml\n")
    monkeypatch.chdir(project.path / folder)
    result = project.run(str(project.path))
    assert result.parseoutcomes().get("xfailed") == 1


def test_a_profile_of_the_project_counts_and_the_command_line_wins(project: Project) -> None:
    project.take(PLAIN, "one.cassette.jsonl")
    project.write("a.conformance.yaml", SPEC)
    project.write("conformance.yaml", "profile: nobodys\n")
    result = project.run()
    assert "nobodys" in result.stdout.str()
    assert result.ret != 0
    counts(project.run("--conformance-profile=strict"), passed=1)
    counts(project.run("-o", "conformance_profile=strict"), passed=1)


def test_strictness_of_the_project_shows_in_the_head_and_ini_may_undo_it(project: Project) -> None:
    project.write("test_it.py", "def test_it(): pass\n")
    project.write("conformance.yaml", "strict: true\n")
    head = "conformance: strict, conformance.yaml sets strict"
    project.run().stdout.fnmatch_lines([head])
    undone = project.run("-o", "conformance_strict=false").stdout.str()
    assert "conformance: strict" not in undone


def test_target_variables_are_secrets(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    value = "a-word-that-nobody-may-see"
    monkeypatch.setenv("ACME_KEY", value)
    project.write(
        "conformance.yaml",
        "targets:\n  acme: {url: 'http://127.0.0.1:1', headers: {x-tenant: ACME_KEY}}\n",
    )
    source = PLAIN.read_text(encoding="utf-8").replace("chat.completion.chunk", value)
    project.write("one.cassette.jsonl", source)
    project.write("a.conformance.yaml", SPEC)
    shown = project.run("-v").stdout.str()
    assert "FAIL" in shown
    assert value not in shown


def test_a_mistake_in_the_file_stops_the_run_in_one_line(project: Project) -> None:
    project.write("test_it.py", "def test_it(): pass\n")
    project.write("conformance.yaml", "profle: strict\n")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "conformance.yaml:1" in result.stderr.str()


def test_the_file_may_be_left_unread(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("test_it.py", "def test_it(): pass\n")
    project.write("conformance.yaml", "profle: strict\n")
    monkeypatch.setenv("CONFORMANCE_NO_CONFIG", "1")
    counts(project.run(), passed=1)
