"""`conformance diff`: whether an upgrade changed the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cassette.search import named_path
from conformance.cli.failures import CONFORMS, FINDINGS, NOTHING, USAGE
from conformance.cli.options import (
    DialectOption,
    OutputsOption,
    ProfileOption,
    SuiteOption,
    TrustOption,
    trusted_by,
)
from conformance.cli.terminal import has_colour, progress_line, put, warn, warn_errors
from conformance.diff import RecordingDifference, compare
from conformance.judging.rulebook import Rulebook
from conformance.recordings.choices import CheckChoices
from conformance.report.difference import difference_renderer, without_secrets
from conformance.report.files import split_output, write_whole


def diff_command(  # noqa: PLR0917  # typer makes options of parameters
    old: Annotated[Path, typer.Argument(help="A recording, or a folder of cassettes.")],
    new: Annotated[Path, typer.Argument(help="The later recording or folder.")],
    text: Annotated[
        bool, typer.Option("--text", help="Compare texts, too; default: only the wire.")
    ] = False,
    dialect: DialectOption = None,
    profile: ProfileOption = None,
    suite: SuiteOption = None,
    trust: TrustOption = None,
    outputs: OutputsOption = None,
    format_: Annotated[
        str, typer.Option("--format", help="Format on stdout: text, json, markdown or html.")
    ] = "text",
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show every change.")] = False,
) -> None:
    """Show what changed on the wire between two recordings."""
    shown = difference_renderer(format_)
    wanted = [split_output(each) for each in outputs or ()]
    writing = [(file, difference_renderer(name)) for name, file in wanted]
    with progress_line("comparing ..."):
        compared = compare(
            named_path(old),
            named_path(new),
            choices=CheckChoices(dialect, profile, trusted=trusted_by(trust)),
            rulebook=Rulebook.load(suite or ()),
            with_text=text,
        )
    found = without_secrets(compared)
    put(shown(found, verbose=verbose, colour=format_ == "text" and has_colour()))
    for file, render in writing:
        write_whole(file, render(found, verbose=verbose).encode("utf-8", "backslashreplace"))
    if format_ != "text":
        warn_errors(found.errors)
    raise typer.Exit(_exit_code(found))


def _exit_code(found: RecordingDifference) -> int:
    if found.errors:
        return USAGE
    if not found.compared:
        warn("error: there is nothing to compare")
        return NOTHING
    return FINDINGS if found.changed else CONFORMS
