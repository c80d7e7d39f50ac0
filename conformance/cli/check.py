"""`conformance check`: recordings in, verdicts and findings out, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.check import Report, check_paths
from conformance.cli.failures import CONFORMS, NOTHING
from conformance.cli.options import DialectOption, ProfileOption, SuiteOption
from conformance.cli.terminal import has_colour, progress, put, warn
from conformance.report import text
from conformance.report.files import output, write
from conformance.report.formats import render, renderer
from conformance.report.printable import visible


def command(  # noqa: PLR0917  # typer makes options of parameters
    paths: Annotated[list[Path], typer.Argument(help="Recordings, or folders of cassettes.")],
    dialect: DialectOption = None,
    profile: ProfileOption = None,
    suite: SuiteOption = None,
    rule: Annotated[
        list[str] | None, typer.Option(help="Only rules whose id fits this glob; repeatable.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="A violated SHOULD exits 1 too.")
    ] = False,
    require_exercised: Annotated[
        bool,
        typer.Option("--require-exercised", help="A rule that nothing exercised exits 1 too."),
    ] = False,
    outputs: Annotated[
        list[str] | None,
        typer.Option("-o", "--output", metavar="FORMAT=FILE", help="Also write this; repeatable."),
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", help="What goes to stdout: text, json or junit.")
    ] = "text",
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="All findings in full, a verdict per rule.")
    ] = False,
) -> None:
    """Judge recorded streams by the rules, offline."""
    renderer(format_)
    for asked in outputs or ():
        output(asked)  # a mistake here is told before the work, not after
    with progress(f"checking {', '.join(visible(str(path), 60) for path in paths[:3])} ..."):
        report = check_paths(
            paths, dialect=dialect, profile=profile, suites=suite or (), rules=rule or ()
        )
    put(_page(report, format_, verbose=verbose))
    write(report, *(outputs or ()), verbose=verbose)
    for error in report.errors:
        warn(f"error: {visible(error)}")
    code = report.exit_code(strict=strict, require_exercised=require_exercised)
    raise typer.Exit(_selected(code, report, paths))


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
