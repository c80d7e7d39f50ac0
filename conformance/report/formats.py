"""Which formats there are, and which module renders each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

from conformance.core.errors import UsageError

if TYPE_CHECKING:  # `conformance --help` passes here and needs no engine
    from collections.abc import Mapping

    from conformance.judging.result import Report

# A renderer is a module with `render`; it is imported when its format is asked for.
FORMATS: Final[Mapping[str, str]] = {
    "text": "conformance.report.text",
    "json": "conformance.report.json",
    "junit": "conformance.report.junit",
    "sarif": "conformance.report.sarif",
    "github": "conformance.report.github",
    "markdown": "conformance.report.markdown",
    "html": "conformance.report.html",
    "badge": "conformance.report.badge",
}


class Renderer(Protocol):
    """Turns a report into one text; never raises on what a stream may hold."""

    def render(self, report: Report, *, verbose: bool = False, colour: bool = False) -> str:
        """Give the whole text, ending with a line feed."""


def renderer(name: str) -> Renderer:
    """Find the renderer of a format; UsageError if there is none of that name."""
    if name not in FORMATS:
        raise UsageError(f"format must be one of {', '.join(FORMATS)}, got {name!r}")
    return cast("Renderer", import_module(FORMATS[name]))


def render(report: Report, name: str, *, verbose: bool = False, colour: bool = False) -> str:
    """Give the report as text of the named format."""
    return renderer(name).render(report, verbose=verbose, colour=colour)
