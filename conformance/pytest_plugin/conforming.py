"""Judging inside a plain test: `conformance.assert_conforms(trace, "summary/lifecycle")`."""

from __future__ import annotations

from functools import cache
from typing import Final

from conformance.judging.result import Report
from conformance.judging.rulebook import Rulebook
from conformance.pytest_plugin.trace import Source, Trace, trace_of
from conformance.report import text
from conformance.report.redacted import redact_report
from conformance.report.wording import finding_place
from conformance.rules.verdicts import GAPS, Level, Verdict

_LEVELS: Final = tuple(Level)


class ConformanceFailure(AssertionError):  # noqa: N818  # read as a sentence, as AssertionError is
    """Rules were violated. `report` holds all that was found; the first line names the gravest."""

    __module__ = "conformance"  # where it is imported from, and what a test run prints

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


def assert_conforms(
    trace: Trace | Source,
    *suites: str,
    strict: bool | None = None,
    require_exercised: bool | None = None,
) -> Report:
    """Judges a trace by suites (ids, groups, files; none: all that ship) and gives the report.

    A response, a path or bytes will do for a trace. Raises ConformanceFailure if a MUST is
    violated; with `strict` a SHOULD; with `require_exercised` if a rule was not exercised (both as
    the test run says, unless they are given); and if no rule judges what came, for that would look
    green.
    """
    __tracebackhide__ = True
    seen = trace if isinstance(trace, Trace) else trace_of(trace)
    report = seen.judged(_load_rulebook(suites))
    fault = _describe_faults(
        report,
        strict=seen.strict if strict is None else strict,
        require_exercised=seen.require_exercised
        if require_exercised is None
        else require_exercised,
    )
    if fault:
        raise ConformanceFailure(fault, report)
    return report


def _describe_faults(report: Report, *, strict: bool, require_exercised: bool) -> str:
    if not any(stream.verdicts for stream in report.streams):
        spoken = ", ".join(sorted({stream.dialect for stream in report.streams}))
        return f"no rule judges {spoken}"
    if report.exit_code(strict=strict, require_exercised=require_exercised) == 0:
        return ""
    clean = redact_report(report)
    gaps = _gap_lines(clean) if require_exercised else []
    return "\n".join([*_gravest_finding(clean), *gaps, "", text.render(clean).rstrip()])


def _gravest_finding(report: Report) -> list[str]:
    found = [(stream, finding) for stream in report.streams for finding in stream.findings]
    if not found:
        return []
    stream, finding = min(found, key=lambda each: _LEVELS.index(each[1].level))
    more = f" (and {len(found) - 1} more)" if found[1:] else ""
    return [
        (
            f"{finding.verdict} {finding.level} {finding.rule} "
            f"{finding_place(stream.file, finding)}{more}"
        )
    ]


def _gap_lines(report: Report) -> list[str]:
    unclear = GAPS | {Verdict.INCONCLUSIVE}
    return [f"{verdict} {rule}" for rule, verdict in report.verdicts.items() if verdict in unclear]


@cache
def _load_rulebook(suites: tuple[str, ...]) -> Rulebook:
    """Loaded once in a process: a test run judges by the same rules again and again."""
    return Rulebook.load(suites)
