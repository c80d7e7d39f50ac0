"""What the page of the site runs in the browser: a pasted stream in, a report out."""

from __future__ import annotations

from pathlib import Path

import conformance
from conformance.core.errors import ConformanceError
from conformance.report.files import render

FILE = "pasted.sse"


def judge(text: str, profile: str) -> tuple[str, str]:
    """The report as text and as a page; what cannot be read is told in the text."""
    Path(FILE).write_text(text, encoding="utf-8")
    try:
        report = conformance.check_cassette(FILE, profile=profile or None)
    except ConformanceError as error:
        return f"error: {error}", ""
    return render(report, "text"), render(report, "html")
