"""`conformance mutate`: defects put into a recording, and the proof that the rules find them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cassette.search import named_path
from conformance.cli.failures import CONFORMS, FINDINGS, NOTHING
from conformance.cli.options import DialectOption, ProfileOption, require_format
from conformance.cli.terminal import progress_line, put
from conformance.core.errors import UsageError
from conformance.editing.operator import Operator
from conformance.judging.rulebook import Rulebook
from conformance.mutate import (
    OPERATORS,
    find_operators,
    format_matrix,
    judge_matrix,
    judge_mutants,
    open_base,
    shipped_bases,
    shipped_mutants,
    write_mutant,
)
from conformance.report.printable import visible


def mutate_command(  # noqa: PLR0917  # typer makes options of parameters
    file: Annotated[
        Path | None, typer.Argument(help="A recording of any kind that check reads.")
    ] = None,
    operator: Annotated[
        list[str] | None,
        typer.Option(help="Only operators whose name matches this glob; repeatable; default: all."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Write the mutants here as cassettes."),
    ] = None,
    with_matrix: Annotated[
        bool, typer.Option("--matrix", help="All operators over all shipped recordings.")
    ] = False,
    format_: Annotated[
        str, typer.Option("--format", help="Format of the matrix: text, markdown or json.")
    ] = "text",
    dialect: DialectOption = None,
    profile: ProfileOption = None,
) -> None:
    """Plant defects in a recording; show which rules find them."""
    wanted = tuple(each for glob in operator or () for each in find_operators(glob)) or OPERATORS
    if with_matrix == (file is not None):
        raise UsageError("expected either a recording or --matrix")
    if file is None:
        _show_matrix(format_)
    else:
        _show_mutants(named_path(file), wanted, output, dialect, profile)


def _show_matrix(format_: str) -> None:
    require_format(format_, "text", "markdown", "json")
    with progress_line("judging mutants of the shipped recordings ..."):
        found = judge_matrix(shipped_bases(), shipped_mutants(), jobs=None)
    put(format_matrix(found, format_))
    raise typer.Exit(CONFORMS if found.is_sound else FINDINGS)


def _show_mutants(
    file: Path,
    operators: tuple[Operator, ...],
    output: Path | None,
    dialect: str | None,
    profile: str | None,
) -> None:
    found = False
    for one in judge_mutants(
        open_base(file, dialect=dialect, profile=profile), operators, Rulebook.load()
    ):
        found = True
        rules = ", ".join(one.rules) or "no new finding"
        where = f" -> {write_mutant(one, output)}" if output is not None else ""
        put(visible(f"{one.mutant.name} ({one.mutant.must}): {rules}{where}"))
    if not found:
        raise typer.Exit(NOTHING)
