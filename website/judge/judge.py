"""What the page of the site runs in the browser: a pasted stream in, a report out."""

from __future__ import annotations

from pathlib import Path

import conformance
from conformance.core.errors import ConformanceError
from conformance.report.files import render

FILE = "pasted.sse"
SUITE = "own.yaml"


def judge(text: str, profile: str, suite: str) -> tuple[str, str]:
    """The report as text and as a page; what cannot be read is told in the text.

    A suite, in YAML, is judged alone, in place of the shipped ones.
    """
    Path(FILE).write_text(text, encoding="utf-8")
    Path(SUITE).write_text(suite, encoding="utf-8")
    suites = (SUITE,) if suite.strip() else ()
    try:
        report = conformance.check_cassette(FILE, profile=profile or None, suites=suites)
    except ConformanceError as error:
        return f"error: {error}", ""
    return render(report, "text"), render(report, "html")
