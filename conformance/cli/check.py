"""`conformance check`: recordings in, verdicts and findings out, offline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from conformance.baseline import apply, load
from conformance.cli.failures import CONFORMS, NOTHING
from conformance.cli.options import (
    AsOfOption,
    DialectOption,
    ExercisedOption,
    ExpectedOption,
    FormatOption,
    OutputsOption,
    ProfileOption,
    RechunkOption,
    RuleOption,
    StrictOption,
    SuiteOption,
)
from conformance.cli.terminal import has_colour, progress, put, warn
from conformance.judging.result import Report
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import Choices, check_paths
from conformance.recordings.rechunk import rechunk_paths
from conformance.report import text
from conformance.report.files import output, write
from conformance.report.formats import render, renderer
from conformance.report.printable import visible
from conformance.report.redacted import redacted


def command(  # noqa: PLR0917  # typer makes options of parameters
    paths: Annotated[list[Path], typer.Argument(help="Recordings, or folders of cassettes.")],
    dialect: DialectOption = None,
    profile: ProfileOption = None,
    suite: SuiteOption = None,
    rule: RuleOption = None,
    rules_as_of: AsOfOption = None,
    expected_failures: ExpectedOption = None,
    rechunk: RechunkOption = 0,
    strict: StrictOption = False,
    require_exercised: ExercisedOption = False,
    outputs: OutputsOption = None,
    format_: FormatOption = "text",
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="All findings in full, a verdict per rule.")
    ] = False,
) -> None:
    """Judge recorded streams by the rules, offline."""
    renderer(format_)
    for asked in outputs or ():
        output(asked)  # a mistake here is told before the work, not after
    baseline = load(expected_failures) if expected_failures else None
    suites, rules = suite or (), rule or ()
    with progress(f"checking {', '.join(visible(str(path), 60) for path in paths[:3])} ..."):
        report = check_paths(
            paths,
            dialect=dialect,
            profile=profile,
            suites=suites,
            rules=rules,
            as_of=rules_as_of,
            jobs=None,
        )
        if rechunk:
            rulebook = Rulebook.load(suites, rules, rules_as_of)
            rechunk_paths(paths, rulebook, Choices(dialect, profile), rounds=rechunk)
    report = redacted(apply(report, baseline) if baseline else report)
    _tell(report, format_, outputs or (), verbose=verbose)
    code = report.exit_code(strict=strict, require_exercised=require_exercised)
    raise typer.Exit(_selected(code, report, paths))


def _tell(report: Report, format_: str, outputs: Sequence[str], *, verbose: bool) -> None:
    put(_page(report, format_, verbose=verbose))
    write(report, *outputs, verbose=verbose, shown=format_)
    for error in report.errors:
        warn(f"error: {visible(error)}")


def _page(report: Report, name: str, *, verbose: bool) -> str:
    if name == "text":
        return text.render(report, verbose=verbose, colour=has_colour(), has_errors=False)
    return render(report, name, verbose=verbose)


def _selected(code: int, report: Report, paths: list[Path]) -> int:
    """NOTHING for streams that no rule looked at: they would look green."""
    if code not in (CONFORMS, NOTHING) or report.verdicts:
        return code
    warn(f"error: {_nothing(report, paths)}")
    return NOTHING


def _nothing(report: Report, paths: list[Path]) -> str:
    if report.streams:
        return f"no rule judges {', '.join(sorted({s.dialect for s in report.streams}))}"
    folders = ", ".join(visible(str(path), 60) for path in paths[:3])
    return f"no .cassette.jsonl or .sse file below {folders}"
