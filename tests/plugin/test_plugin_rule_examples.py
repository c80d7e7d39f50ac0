"""Rules of one's own that pytest meets: an item for each of their examples."""

from __future__ import annotations

from typing import Final

import pytest

from tests.plugin.conftest import SUMMARY, Project, counts

RULES: Final = """suite: own/answers
dialect: openai.chat
events:
  with.role: {type: chat.choice, delta.role: {type: string}}
rules:
  - id: role-once
    level: MUST
    says: The role is sent once.
    since: 0.1.0
    slice: [index]
    never: with.role
    after: with.role
    keeps:
      - - choices: [{index: 0, delta: {role: assistant}}]
    breaks:
      - - choices: [{index: 0, delta: {role: assistant}}]
        - choices: [{index: 0, delta: {role: assistant}}]
"""
VACUOUS: Final = RULES.replace("role: assistant}}]\n    breaks", "content: a}}]\n    breaks")


def test_a_file_of_rules_is_collected_by_its_name(project: Project) -> None:
    project.write("own.conformance.yaml", RULES)
    result = project.run("-v")
    counts(result, passed=2)
    names = ("keeps-1", "breaks-1")
    result.stdout.fnmatch_lines(
        [f"own.conformance.yaml::own/answers/role-once[[]{name}[]] PASSED*" for name in names]
    )


def test_rules_that_a_file_names_are_tried_next_to_its_recordings(project: Project) -> None:
    project.write("rules/own.yaml", RULES)
    project.write("a.conformance.yaml", "suites: [rules]\n")
    counts(project.run(), passed=2)
    project.take(SUMMARY, "good.cassette.jsonl")
    project.write(
        "a.conformance.yaml", "suites: [summary, rules]\ncassettes: [good.cassette.jsonl]\n"
    )
    both = project.run("-v")
    both.stdout.fnmatch_lines(["*own/answers/role-once[[]keeps-1[]] PASSED*", "*::good::summary/*"])


def test_only_rules_that_are_chosen_are_tried(project: Project) -> None:
    project.write("own.yaml", RULES.replace("role-once", "other") + RULES[RULES.index("  - id") :])
    project.write("a.conformance.yaml", "suites: [own.yaml]\nrules: [role-once]\n")
    counts(project.run(), passed=2)


def test_an_example_that_does_not_hold_fails_with_its_place(project: Project) -> None:
    project.write("own.yaml", VACUOUS)
    project.write("a.conformance.yaml", "suites: [own.yaml]\n")
    result = project.run("-rf")
    counts(result, passed=1, failed=1)
    result.stdout.fnmatch_lines(["*own.yaml:14:9: own/answers/role-once keeps 1: FAILED: VACUOUS*"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("    keeps:", "    kept:"), "*own.conformance.yaml:13:5: unknown key 'kept'*"),
        (("- - choices: [{index: 0, delta: {role: assistant}}]", "- ../a.sse"), "*leads out of*"),
    ],
)
def test_a_mistake_is_one_line(project: Project, change: tuple[str, str], message: str) -> None:
    project.write("own.conformance.yaml", RULES.replace(*change, 1))
    result = project.run()
    result.stdout.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*Traceback*")
