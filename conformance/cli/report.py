"""`conformance report`: a finding made ready for the issue tracker of whoever can fix it.

`conformance report merge A.json B.json` makes one report of several.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from conformance.cli.completing import complete_rule
from conformance.cli.judged_report import check_outputs, put_report
from conformance.cli.options import (
    DialectOption,
    FormatOption,
    ProfileOption,
    StrictOption,
    SuiteOption,
    TrustOption,
    VerboseOption,
    trusted_by,
)
from conformance.cli.terminal import progress_line, put, warn_errors
from conformance.core.errors import UsageError
from conformance.judging.rulebook import Rulebook
from conformance.recordings.choices import CheckChoices
from conformance.report.printable import visible
from conformance.report.reduction import SECONDS
from conformance.report.selection import select_finding
from conformance.report.shards import read_shards
from conformance.report.upstream import prepare_issue, save_issue

MERGE: Final = "merge"


_FindingArgument = Annotated[
    str,
    typer.Argument(
        help="Id of a finding or group, or its beginning; or a rule, as for explain; or"
        " `merge`: make one report of several json reports.",
        autocompletion=complete_rule,
    ),
]
_PathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(help="Recordings, folders of cassettes, or json reports of checks."),
]
_OutputOption = Annotated[
    list[str] | None,
    typer.Option(
        "-o", "--output", metavar="DIR", help="File to write; with merge FORMAT=FILE, repeatable."
    ),
]
_SecondsOption = Annotated[
    float, typer.Option(min=0, max=3600, help="Time to spend on shrinking the recording.")
]


def report_command(  # noqa: PLR0917  # typer makes options of parameters
    finding: _FindingArgument,
    paths: _PathsArgument = None,
    output: _OutputOption = None,
    seconds: _SecondsOption = SECONDS,
    dialect: DialectOption = None,
    profile: ProfileOption = None,
    suite: SuiteOption = None,
    trust: TrustOption = None,
    strict: StrictOption = False,
    format_: FormatOption = "text",
    verbose: VerboseOption = False,
) -> None:
    """Write a bug report for a finding, or merge reports."""
    if finding == MERGE:
        raise typer.Exit(
            _merge_reports(paths or (), output or (), format_, verbose=verbose, strict=strict)
        )
    if not paths and Path(finding).exists():
        message = f"{finding} is a path; name the finding first: conformance report ID {finding}"
        hint = f"conformance check {finding} lists ids, and writes pages with -o html=FILE"
        raise UsageError(message, hint=hint)
    if not paths:
        raise UsageError("name a recording, a folder, or a json report that has the finding")
    if not output or len(output) > 1:
        raise UsageError("name the folder to write it to: -o DIR")
    rulebook = Rulebook.load(suite or ())
    with progress_line("looking for the finding, and reducing it ..."):
        choices = CheckChoices(dialect, profile, trusted=trusted_by(trust))
        selected = select_finding(finding, paths, choices, rulebook)
        issue = prepare_issue(selected, rulebook, seconds=seconds)
        written = save_issue(issue, Path(output[0]))
    put(visible(issue.summary))
    for file in written:
        put(f"  {visible(str(file))}")
    put("Read it through before you send it: secrets are replaced, prompts and answers are not.")


def _merge_reports(
    paths: Sequence[Path], outputs: Sequence[str], format_: str, *, verbose: bool, strict: bool
) -> int:
    """Writes one report of several; gives the exit code that a check of all would have."""
    check_outputs(format_, outputs)
    if len(paths) < 2:
        raise UsageError("name two json reports or more: conformance report merge A.json B.json")
    merged = put_report(read_shards(paths), None, format_, outputs, verbose=verbose)
    warn_errors(merged.errors)
    return merged.exit_code(strict=strict)
