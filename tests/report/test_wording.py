from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.result import Report
from conformance.report.wording import (
    alternatives,
    authority_lines,
    finding_place,
    finding_sentence,
    stream_title,
    summary_line,
)
from conformance.rules.verdicts import Level, Verdict
from tests.report.made import finding, stream

PLACES: list[tuple[dict[str, Any], str]] = [
    ({}, "x.sse:26 (event 8, byte 2641)"),
    ({"byte": None}, "x.sse:26 (event 8)"),
    ({"line": None, "byte": 0}, "x.sse (event 8, byte 0)"),
    ({"line": None, "byte": None, "event": 0}, "x.sse (request or response head)"),
]


@pytest.mark.parametrize(("changes", "shown"), PLACES)
def test_place_reports_what_is_known(changes: dict[str, Any], shown: str) -> None:
    assert finding_place("x.sse", finding(**changes)) == shown


SENTENCES: list[tuple[str, tuple[str, ...], str, str, str]] = [
    # message, expected, after, got, the sentence
    ("expected a or b after c, got d", ("a", "b"), "c", "d", "expected a or b after c, got d"),
    ("text differs at character 4", (), "", "", "text differs at character 4"),
    ("differs", ("a",), "", "b", "differs; expected a, got b"),
    ("", ("a", "b", "c"), "d", "e", "expected a, b or c, after d, got e"),
    # A longer name does not say the shorter one.
    ("got x.done", (), "", "x", "got x.done; got x"),
    ("got x.done.", (), "", "x.done", "got x.done."),
]


@pytest.mark.parametrize(("message", "expected", "after", "got", "shown"), SENTENCES)
def test_sentence_says_each_fact_once(
    message: str, expected: tuple[str, ...], after: str, got: str, shown: str
) -> None:
    reworded = finding(message=message, expected=expected, after=after, got=got)
    assert finding_sentence(reworded) == shown


def test_the_whole_first_set_is_reported() -> None:
    names = [f"response.output_text.annotation_{n}.added" for n in range(40)]
    assert all(name in alternatives(names) for name in names)
    assert alternatives(["a"]) == "a"
    assert alternatives([]) == ""


def test_two_long_texts_are_not_two_walls() -> None:
    long = finding(message="x" * 100_000, got="y" * 100_000, after="", expected=("z" * 100_000,))
    assert len(finding_sentence(long)) < 2_000


def test_authority_lists_every_entry() -> None:
    source = ({"spec": "https://example.org", "quote": "It ends."}, {"breaks": "a client"})
    assert list(authority_lines(source)) == [
        "https://example.org",
        '"It ends."',
        "breaks: a client",
    ]


def test_title_names_scenario_role_and_view() -> None:
    judged = stream(scenario="think", role="plain", view="client")
    wanted_title = "ogx.cassette.jsonl, exchange 1 (think/plain), openai.responses, profile ogx"
    assert stream_title(judged) == f"{wanted_title}, client view"


def test_summary_counts_rules_over_the_run() -> None:
    other = finding(rule="a/b/c", level=Level.SHOULD)
    report = Report(
        (
            stream(finding(), other),
            stream(verdicts={"a/b/c": Verdict.PASS, "a/b/d": Verdict.NOT_APPLICABLE}),
        )
    )
    assert summary_line(report) == (
        "3 rules over 2 streams: 2 FAIL (1 MUST, 1 SHOULD), 1 NOT-APPLICABLE; 2 findings"
    )


def test_summary_of_nothing_but_errors() -> None:
    assert (
        summary_line(Report(errors=("x: broken",)))
        == "nothing was checked; 1 file could not be judged"
    )
