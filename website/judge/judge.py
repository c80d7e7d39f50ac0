"""What the page of the site runs in the browser: a pasted stream in, a report out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import conformance
from conformance.core.errors import ConformanceError
from conformance.judging.suites import load_suites
from conformance.recordings.rule_tests import ExampleJudge
from conformance.report.files import render
from conformance.report.rule_tests import example_line

FILE = "pasted.sse"
SUITE = "own.yaml"


def judge(text: str, profile: str, suite: str) -> tuple[str, str]:
    """The report as text and as a page; what cannot be read is told in the text.

    A suite, in YAML, is judged alone, in place of the shipped ones. Its examples are tried first;
    without a stream they are all that is judged.
    """
    Path(FILE).write_text(text, encoding="utf-8")
    Path(SUITE).write_text(suite, encoding="utf-8")
    suites = (SUITE,) if suite.strip() else ()
    try:
        tried = "".join(f"{line}\n" for line in example_lines(suites))
        if not text.strip():
            return tried or "error: paste a stream, or rules with examples", ""
        report = conformance.check_cassette(FILE, profile=profile or None, suites=suites)
    except ConformanceError as error:
        return f"error: {error}", ""
    return f"{tried}\n{render(report, 'text')}".lstrip("\n"), render(report, "html")


def example_lines(suites: tuple[str, ...]) -> Iterator[str]:
    """What came of every example in the rules, a line each."""
    for loaded in load_suites(suites) if suites else ():
        for _, outcome in ExampleJudge(loaded).outcomes(loaded.rules):
            yield str(outcome) if isinstance(outcome, ConformanceError) else example_line(outcome)
