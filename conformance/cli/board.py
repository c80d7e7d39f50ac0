"""`conformance board`: saved runs in, one page out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.board import add_run, board_page, read_rows
from conformance.board.summary import SUFFIX
from conformance.board.verifying import judge_again
from conformance.cli.failures import CONFORMS, FINDINGS
from conformance.cli.terminal import progress_line, put, warn
from conformance.core.errors import UsageError
from conformance.report.files import write_whole
from conformance.report.printable import visible
from conformance.report.wording import count


def board_command(
    folder: Annotated[Path, typer.Argument(help="Folder with the summaries of runs, *.run.json.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the page to this file."),
    ] = None,
    add: Annotated[
        Path | None,
        typer.Option("--add", metavar="RUN", help="First add this run: a folder of run --save."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="First judge every run again by the current rules.")
    ] = False,
    link: Annotated[
        str,
        typer.Option(metavar="URL", help="Public address of its recordings; default: copy them."),
    ] = "",
) -> None:
    """Show on one page which systems keep which rules."""
    if link and add is None:
        raise UsageError("--link goes with --add: it says where the recordings of that run are")
    if add is None and output is None and not again:
        raise UsageError("name the page with -o FILE, or a run to add with --add RUN")
    if again:
        files = sorted(folder.glob(f"*{SUFFIX}"))
        with progress_line("judging by the rules of today ..."):
            changed = sum(judge_again(file) for file in files)
        put(f"{changed} of {count(len(files), 'run')} judged otherwise than before")
    if add is not None:
        with progress_line("judging the run ..."):
            added = add_run(folder, add, link)
        put(f"{visible(str(added))} is written")
    raise typer.Exit(CONFORMS if output is None else _write_page(folder, output))


def _write_page(folder: Path, output: Path) -> int:
    """Judges the runs again and shows them; FINDINGS where a row does not agree."""
    with progress_line("judging the runs again ..."):
        rows = read_rows(folder)
    write_whole(output, board_page(rows).encode())
    for row in rows:
        for line in row.lines:
            warn(f"{row.anchor}: {line}")
    put(f"{count(len(rows), 'run')}, {sum(row.state == 'agrees' for row in rows)} judged again")
    return FINDINGS if any(row.state == "differs" for row in rows) else CONFORMS
