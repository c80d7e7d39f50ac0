"""`conformance mutate`: defects put into a recording, and the proof that the rules find them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.failures import CONFORMS, FINDINGS, NOTHING
from conformance.cli.options import DialectOption, ProfileOption
from conformance.cli.terminal import progress, put
from conformance.core.errors import UsageError
from conformance.judging.rulebook import Rulebook
from conformance.mutate import (
    OPERATORS,
    base,
    matrix,
    named,
    printed,
    save,
    shipped_bases,
    shipped_mutants,
    tried,
)
from conformance.mutate.operator import Operator
from conformance.report.printable import visible


def command(  # noqa: PLR0917  # typer makes options of parameters
    file: Annotated[
        Path | None, typer.Argument(help="A recording of any kind that check reads.")
    ] = None,
    operator: Annotated[
        list[str] | None,
        typer.Option(help="Only operators whose name fits this glob; repeatable; default: all."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Write the mutants here as cassettes."),
    ] = None,
    with_matrix: Annotated[
        bool, typer.Option("--matrix", help="All operators over all shipped recordings.")
    ] = False,
    format_: Annotated[
        str, typer.Option("--format", help="Of the matrix: text, markdown or json.")
    ] = "text",
    dialect: DialectOption = None,
    profile: ProfileOption = None,
) -> None:
    """Put known defects into a recording and tell which rules find them."""
    wanted = tuple(each for glob in operator or () for each in named(glob)) or OPERATORS
    if with_matrix == (file is not None):
        raise UsageError("expected either a recording or --matrix")
    if file is None:
        _matrix(format_)
    else:
        _mutants(file, wanted, output, dialect, profile)


def _matrix(format_: str) -> None:
    if format_ not in ("text", "markdown", "json"):
        raise UsageError(f"format must be text, markdown or json, got {format_!r}")
    with progress("judging mutants of the shipped recordings ..."):
        found = matrix(shipped_bases(), shipped_mutants())
    put(printed(found, format_))
    raise typer.Exit(CONFORMS if found.is_sound else FINDINGS)


def _mutants(
    file: Path,
    operators: tuple[Operator, ...],
    output: Path | None,
    dialect: str | None,
    profile: str | None,
) -> None:
    found = False
    for one in tried(base(file, dialect=dialect, profile=profile), operators, Rulebook.load()):
        found = True
        rules = ", ".join(one.rules) or "no new finding"
        where = f" -> {save(one, output)}" if output is not None else ""
        put(visible(f"{one.mutant.name} ({one.mutant.must}): {rules}{where}"))
    if not found:
        raise typer.Exit(NOTHING)
