"""Files `*.conformance.yaml`: an item for each rule and exchange, and what becomes of it."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema_rs
import pytest
import yaml

from conformance.cassette import open_recording
from tests.plugin.conftest import BROKEN, CASSETTES, PLAIN, SUMMARY, Project, counts

SHOULD = CASSETTES / "mutants/summary/lifecycle/summary-streamed.cassette.jsonl"
DEMO = CASSETTES / "openai.responses/demo/summary.cassette.jsonl"
GOOD = "suites: [summary/lifecycle]\ncassettes: [good.cassette.jsonl]\n"
BAD = "suites: [summary/lifecycle]\ncassettes:\n  - bad.cassette.jsonl\n"


def test_every_rule_is_an_item(project: Project) -> None:
    project.take(SUMMARY, "good.cassette.jsonl")
    project.write("a.conformance.yaml", GOOD)
    result = project.run("--collect-only", "-q")
    result.stdout.fnmatch_lines(["a.conformance.yaml::good::summary/lifecycle/part-lifecycle"])
    assert result.ret == pytest.ExitCode.OK
    assert project.run().ret == pytest.ExitCode.OK


def test_item_is_selected_by_its_name(project: Project) -> None:
    project.take(SUMMARY, "good.cassette.jsonl")
    project.write("a.conformance.yaml", GOOD)
    counts(project.run("a.conformance.yaml::good::summary/lifecycle/text-agrees"), passed=1)
    counts(project.run("-k", "text-agrees"), passed=1)


def test_failing_item_points_at_file_and_line_and_shows_the_finding(project: Project) -> None:
    project.take(BROKEN, "bad.cassette.jsonl")
    project.write("a.conformance.yaml", BAD)
    result = project.run("-rf", "-k", "text-agrees")
    counts(result, failed=1)
    result.stdout.fnmatch_lines(
        [
            "FAIL MUST summary/lifecycle/text-agrees  bad.cassette.jsonl:10 (event 7, byte *)",
            "*says      The stated summary text is the joined deltas.",
            "*asked     *a.conformance.yaml:3",
            "FAILED a.conformance.yaml::bad::summary/lifecycle/text-agrees - FAIL MUST*",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*conformance/pytest_plugin*")


def test_should_fails_only_if_strict(project: Project) -> None:
    project.take(SHOULD, "bad.cassette.jsonl")
    project.write("a.conformance.yaml", BAD)
    only = ("-k", "summary-streamed", "-rs")
    result = project.run(*only)
    counts(result, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*a.conformance.yaml:3: FAIL SHOULD summary/lifecycle*"])
    counts(project.run(*only, "--conformance-strict"), failed=1)
    counts(project.run(*only, "-o", "conformance_strict=true"), failed=1)


def test_vacuous_rules_are_visible(project: Project) -> None:
    project.take(SHOULD, "bad.cassette.jsonl")
    project.write("a.conformance.yaml", BAD)
    result = project.run("-rs", "-k", "part-index")
    counts(result, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*VACUOUS summary/lifecycle/part-index: never fired*"])


def test_untestable_rules_are_visible(project: Project) -> None:
    chunks = open_recording(SUMMARY).exchanges[0].chunks
    project.write("bare.sse", b"".join(chunk.data for chunk in chunks).decode())
    project.write("a.conformance.yaml", "suites: [wire]\ncassettes: [bare.sse]\n")
    result = project.run("-rs")
    result.stdout.fnmatch_lines(["SKIPPED*a.conformance.yaml:2: UNTESTABLE *"])


def test_gap_fails_if_exercise_is_required_and_no_exchange_gives_it(project: Project) -> None:
    project.take(SHOULD, "bad.cassette.jsonl")
    project.write("a.conformance.yaml", BAD)
    only = ("--conformance-require-exercised", "-k", "part-index")
    counts(project.run(*only), failed=1)
    project.take(SUMMARY, "good.cassette.jsonl")
    project.write("a.conformance.yaml", f"{BAD}  - good.cassette.jsonl\n")
    counts(project.run(*only), passed=1, skipped=1)


def test_exchanges_of_one_recording_are_numbered(project: Project) -> None:
    project.take(CASSETTES / "mutants/summary/request/only-when-asked.cassette.jsonl", "two.jsonl")
    project.write("a.conformance.yaml", "suites: [summary/request]\ncassettes: [two.jsonl]\n")
    result = project.run("--conformance-strict")
    result.stdout.fnmatch_lines(["FAILED a.conformance.yaml::two#2::summary/request/only-when*"])


def test_one_item_per_exchange_where_the_file_says_so(project: Project) -> None:
    project.take(SUMMARY, "good.cassette.jsonl")
    project.take(BROKEN, "bad.cassette.jsonl")
    spec = f"items: exchange\n{BAD}  - good.cassette.jsonl\n"
    project.write("a.conformance.yaml", spec)
    result = project.run()
    counts(result, passed=1, failed=1)
    result.stdout.fnmatch_lines(["FAILED a.conformance.yaml::bad - FAIL MUST summary/lifecycle/*"])


def test_folders_and_globs_name_recordings(project: Project) -> None:
    project.take(SUMMARY, "in/one.cassette.jsonl")
    project.take(SUMMARY, "in/deep/two.cassette.jsonl")
    for named in ("in", '"in/**/*.jsonl"'):
        project.write("a.conformance.yaml", f"items: exchange\ncassettes: [{named}]\n")
        counts(project.run(), passed=2)


def test_recordings_of_one_name_are_distinguished(project: Project) -> None:
    project.take(SUMMARY, "x/one.cassette.jsonl")
    project.take(SUMMARY, "y/one.cassette.jsonl")
    project.write("a.conformance.yaml", "items: exchange\ncassettes: [x, y]\n")
    result = project.run("--collect-only", "-q")
    result.stdout.fnmatch_lines(["a.conformance.yaml::y/one"])


def test_recording_that_cannot_be_read_fails_as_an_item(project: Project) -> None:
    project.write("torn.cassette.jsonl", '{"cassette":"9.0"}\n')
    project.take(SUMMARY, "good.cassette.jsonl")
    project.write("a.conformance.yaml", "items: exchange\ncassettes: ['*.jsonl']\n")
    result = project.run()
    counts(result, passed=1, failed=1)
    result.stdout.fnmatch_lines(["*torn.cassette.jsonl:1: *9.0*"])


def test_recording_that_no_rule_judges_is_not_green(project: Project) -> None:
    project.take(SUMMARY, "good.cassette.jsonl")
    project.write("a.conformance.yaml", "suites: [wire/chat]\ncassettes: [good.cassette.jsonl]\n")
    result = project.run()
    counts(result, failed=1)
    result.stdout.fnmatch_lines(["*no rule judges openai.responses*"])


BASELINE = """
entries:
  - {rule: summary/lifecycle/text-agrees, target: demo, exchange: 1, reason: known since May}
"""
WAYS = {
    "file": ("expected-failures: known.yaml\n", ()),
    "option": ("", ("--conformance-expected-failures=known.yaml",)),
    "ini": ("", ("-o", "conformance_expected_failures=known.yaml")),
}


@pytest.mark.parametrize("way", WAYS)
def test_expected_failure_is_an_xfail(project: Project, way: str) -> None:
    own, args = WAYS[way]
    project.take(BROKEN, "bad.cassette.jsonl")
    project.write("known.yaml", BASELINE)
    project.write("a.conformance.yaml", f"rules: ['*/text-agrees']\n{BAD}{own}")
    result = project.run("-rx", *args)
    counts(result, xfailed=1, passed=1)
    result.stdout.fnmatch_lines(["XFAIL*text-agrees*known since May*"])


@pytest.mark.parametrize("way", WAYS)
def test_stale_entry_fails(project: Project, way: str) -> None:
    own, args = WAYS[way]
    project.take(DEMO, "bad.cassette.jsonl")
    project.write("known.yaml", BASELINE)
    project.write("a.conformance.yaml", f"rules: ['*/text-agrees']\n{BAD}{own}")
    result = project.run(*args)
    counts(result, failed=1, passed=1)
    result.stdout.fnmatch_lines(
        ["known.yaml:3:67: *passes now: take the entry out", "FAILED *::expected-failures - *"]
    )


def test_files_share_the_baseline_of_the_command_line(project: Project) -> None:
    project.take(BROKEN, "bad.cassette.jsonl")
    project.take(SUMMARY, "good.cassette.jsonl")
    project.write("known.yaml", BASELINE)
    project.write("a.conformance.yaml", f"items: exchange\n{BAD}")
    project.write("b.conformance.yaml", f"items: exchange\n{GOOD}")
    args = ("--conformance-expected-failures=known.yaml",)
    counts(project.run(*args), xfailed=1, passed=2)
    counts(project.run(*args, "b.conformance.yaml"), passed=2)


def test_profile_of_the_command_line_counts(project: Project) -> None:
    project.take(PLAIN, "good.cassette.jsonl")
    project.write("a.conformance.yaml", "items: exchange\ncassettes: [good.cassette.jsonl]\n")
    result = project.run("--conformance-profile=nobody")
    counts(result, failed=1)
    result.stdout.fnmatch_lines(["*nobody*"])


def test_dialect_of_the_file_counts(project: Project) -> None:
    project.write("bare.jsonl", '{"id": "x", "choices": []}\n')
    project.write("a.conformance.yaml", "dialect: openai.chat\ncassettes: [bare.jsonl]\n")
    result = project.run("--collect-only", "-q")
    result.stdout.fnmatch_lines(["a.conformance.yaml::bare::wire/chat/chunk-fields"])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("suites: [summary]\n", "*:1:1: expected either 'cassettes' or 'scenarios'*"),
        ("cassettes: [x]\nscenarios: [think]\n", "*:1:1: expected either*"),
        ("casettes: [x]\n", "*:1:1: unknown key 'casettes' (did you mean 'cassettes'?)*"),
        ("cassettes: [nowhere]\n", "*:1:13: no recording is called 'nowhere'*"),
        ("cassettes: ['/etc/*']\n", "*:1:13: expected a pattern relative to this file*"),
        ("cassettes: [.]\nmodel: m\n", "*:2:1: 'model' belongs to 'scenarios'*"),
        ("cassettes: [.]\nitems: all\n", "*:2:8: expected one of rule, exchange*"),
        (
            "suites: [sumary]\ncassettes: [.]\n",
            "*:1:10: no suite 'sumary', neither shipped nor a file*",
        ),
        ("rules: ['x/*']\ncassettes: [.]\n", "*:1:9: no rule matches 'x/[*]'*"),
        ("cassettes: &a [.]\n", "*:1:12: anchors are not allowed*"),
        ("scenarios: [thnk]\n", "*needs a live target*"),
    ],
)
def test_mistake_in_file_is_one_line_with_its_place(project: Project, text: str, line: str) -> None:
    project.take(SUMMARY, "good.cassette.jsonl")
    project.write("a.conformance.yaml", text)
    result = project.run("-rs")
    result.stdout.fnmatch_lines([line])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("cassettes: [x]\n", True),
        ("suites: [own.yaml]\n", True),  # which may have examples
        ("cassettes: x\nsuites: summary\nitems: exchange\nprofile: openai\n", True),
        ("scenarios: [think]\napis: [chat]\nmodel: m\nwithout: [tools]\n", True),
        ("cassettes: [x]\nscenarios: [y]\n", False),
        ("profile: openai\n", False),
        ("cassettes: [x]\nmodel: m\n", False),
        ("cassettes: [x]\nitems: all\n", False),
        ("casettes: [x]\n", False),
        ("scenarios: [think]\napis: [completions]\n", False),
    ],
)
def test_schema_takes_what_the_reader_takes(text: str, fits: bool) -> None:
    schema = files("conformance.schemas").joinpath("pytest.schema.json").read_text()
    assert jsonschema_rs.validator_for(json.loads(schema)).is_valid(yaml.safe_load(text)) is fits
