"""A report of judged streams, as `check` and `run` put it out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from time import monotonic

from msgspec.structs import replace

from conformance.baseline.applying import apply_baseline
from conformance.baseline.entries import Baseline
from conformance.cli.terminal import has_colour, put, put_pieces, terminal_width, warn
from conformance.core.errors import ConformanceError
from conformance.judging.result import JudgedCall, Report
from conformance.judging.suites import load_suites
from conformance.report import text
from conformance.report.files import parse_output, render_pieces, renderer, write
from conformance.report.redacted import redact_report
from conformance.report.wording import error_sentence


def check_outputs(format_: str, outputs: Sequence[str]) -> None:
    """Raises UsageError for a format or a file that cannot be: before the work, not after."""
    renderer(format_)
    for each in outputs:
        parse_output(each)


def warn_unanswered(report: Report) -> None:
    """Says on stderr why nothing was judged where an error is all that came."""
    errors = (stream.error for stream in report.streams if stream.error and stream.error.is_all)
    if (error := next(errors, None)) is not None:
        warn(f"error: no answer came but an error: {error_sentence(error)}")


class CallClock:
    """Remembers when a call began, and its options."""

    def __init__(
        self, suites: Sequence[str], as_of: str | None, *, target: str = "", kept: bool = True
    ) -> None:
        self._started = datetime.now(UTC)
        self._clock = monotonic()
        self._target = target
        self._suites = suites
        self._as_of = as_of
        self._kept = kept

    def stopped(self, report: Report) -> Report:
        """The report with the call, which is over now."""
        return replace(report, call=self._judged_call())

    def _judged_call(self) -> JudgedCall:
        return JudgedCall(
            started=self._started.isoformat(timespec="milliseconds"),
            seconds=round(monotonic() - self._clock, 3),
            command=("conformance", *sys.argv[1:]),
            target=self._target,
            suites=_suite_files(self._suites),
            rules_as_of=self._as_of,
            kept=self._kept,
        )


def _suite_files(names: Sequence[str]) -> dict[str, str]:
    try:
        return {suite.id: suite.file for suite in load_suites(names)}
    except ConformanceError:  # already reported when the rules were used
        return {}


def put_report(
    report: Report,
    baseline: Baseline | None,
    format_: str,
    outputs: Sequence[str],
    *,
    verbose: bool,
) -> Report:
    """Writes the report, by the baseline and without secrets; gives it as it was written."""
    shown = redact_report(apply_baseline(report, baseline) if baseline else report)
    if format_ == "text":
        colour, width = has_colour(), terminal_width()
        put(text.render(shown, verbose=verbose, colour=colour, width=width, has_errors=False))
    else:
        put_pieces(render_pieces(shown, format_, verbose=verbose))
    write(shown, *outputs, verbose=verbose, shown=format_)
    return shown
