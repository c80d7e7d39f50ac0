"""`conformance report`: a finding made ready for the issue tracker of whoever can mend it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.completing import complete_rule
from conformance.cli.options import (
    DialectOption,
    ProfileOption,
    SuiteOption,
    TrustOption,
    trusted_by,
)
from conformance.cli.terminal import progress_line, put
from conformance.core.errors import UsageError
from conformance.judging.rulebook import Rulebook
from conformance.recordings.choices import CheckChoices
from conformance.report.printable import visible
from conformance.report.reduction import SECONDS
from conformance.report.selection import select_finding
from conformance.report.upstream import prepare_issue, save_issue


def report_command(  # noqa: PLR0917  # typer makes options of parameters
    finding: Annotated[
        str,
        typer.Argument(
            help="Id of a finding or group, or its beginning; or a rule, as explain takes it.",
            autocompletion=complete_rule,
        ),
    ],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Recordings, folders of cassettes, or a json report of a check."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where to write it.")
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=0, max=3600, help="Time to spend on making the recording small.")
    ] = SECONDS,
    dialect: DialectOption = None,
    profile: ProfileOption = None,
    suite: SuiteOption = None,
    trust: TrustOption = None,
) -> None:
    """Write up a finding for its maintainers, with a small failing cassette."""
    if not paths:
        raise UsageError("name a recording, a folder, or a json report that has the finding")
    if output is None:
        raise UsageError("name the folder to write it to: -o DIR")
    rulebook = Rulebook.load(suite or ())
    with progress_line("looking for the finding, and reducing it ..."):
        choices = CheckChoices(dialect, profile, trusted=trusted_by(trust))
        selected = select_finding(finding, paths, choices, rulebook)
        issue = prepare_issue(selected, rulebook, seconds=seconds)
        written = save_issue(issue, output)
    put(visible(issue.summary))
    for file in written:
        put(f"  {visible(str(file))}")
    put("Read it through before you send it: secrets are replaced, prompts and answers are not.")
