"""`conformance verify`: whether a summary on the board is what its recordings give."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.board import disagreements, read_summary
from conformance.board.verifying import recordings_folder
from conformance.cli.failures import CONFORMS, FINDINGS
from conformance.cli.terminal import progress_line, put
from conformance.core.errors import Place, UsageError
from conformance.report.printable import visible
from conformance.report.wording import count


def verify_command(
    run: Annotated[Path, typer.Argument(help="The summary of a saved run, *.run.json.")],
    recordings: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Its recordings; default: the folder with its name."),
    ] = None,
) -> None:
    """Judge a summary's recordings again; show what differs."""
    summary = read_summary(run)
    folder = recordings or recordings_folder(run)
    if not folder.is_dir():
        where = f"they are at {summary.link}" if summary.link else "they belong next to it"
        hint = f"{where}: name the folder with --recordings DIR"
        raise UsageError("its recordings are missing", place=Place(str(folder)), hint=hint)
    with progress_line("judging its recordings again ..."):
        lines = disagreements(summary, folder)
    for line in lines:
        put(visible(line, 1000))
    if lines:
        put(f"{count(len(lines), 'disagreement')}")
        raise typer.Exit(FINDINGS)
    judged = f"{count(len(summary.recordings), 'recording')}, {count(summary.streams, 'stream')}"
    put(f"the summary agrees with {judged}")
    raise typer.Exit(CONFORMS)
