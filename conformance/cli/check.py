"""`conformance check`: recordings in, verdicts and findings out, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.failures import CONFORMS, NOTHING
from conformance.cli.judged_report import check_outputs, load_baseline, put_report
from conformance.cli.options import (
    AsOfOption,
    DialectOption,
    ExercisedOption,
    ExpectedOption,
    FormatOption,
    OutputsOption,
    ProfileOption,
    RuleOption,
    StrictOption,
    SuiteOption,
    VerboseOption,
)
from conformance.cli.terminal import progress_line, warn, warn_errors
from conformance.judging.result import Report
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import Choices, check_paths
from conformance.recordings.rechunk import rechunk_paths
from conformance.report.printable import visible


def check_command(  # noqa: PLR0917  # typer makes options of parameters
    paths: Annotated[list[Path], typer.Argument(help="Recordings, or folders of cassettes.")],
    dialect: DialectOption = None,
    profile: ProfileOption = None,
    suite: SuiteOption = None,
    rule: RuleOption = None,
    rules_as_of: AsOfOption = None,
    expected_failures: ExpectedOption = None,
    rechunk: Annotated[
        int,
        typer.Option(min=0, help="Also judge under this many random chunkings; must not matter."),
    ] = 0,
    strict: StrictOption = False,
    require_exercised: ExercisedOption = False,
    outputs: OutputsOption = None,
    format_: FormatOption = "text",
    verbose: VerboseOption = False,
) -> None:
    """Judge recorded streams by the rules, offline."""
    check_outputs(format_, outputs or ())
    baseline = load_baseline(expected_failures)
    suites, rules = suite or (), rule or ()
    with progress_line(f"checking {', '.join(visible(str(path), 60) for path in paths[:3])} ..."):
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
    report = put_report(report, baseline, format_, outputs or (), verbose=verbose)
    warn_errors(report.errors)
    code = report.exit_code(strict=strict, require_exercised=require_exercised)
    raise typer.Exit(_selected(code, report, paths))


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
