"""`conformance lint`: mistakes in rules and profiles, and recordings that prove too little."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from conformance.baseline.linting import lint_baselines
from conformance.cli.failures import CONFORMS, FINDINGS, USAGE
from conformance.cli.terminal import progress_line, put
from conformance.core.errors import UsageError
from conformance.core.shipped import specs
from conformance.linting import lint_paths
from conformance.mutate.completeness import dialect_gaps
from conformance.recordings.linting import lint_recordings, split_paths, suites_in
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.runs.project_linting import lint_projects
from conformance.scenarios.linting import lint_scenarios
from conformance.systems import lint_systems


def lint_command(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files or folders; default: the shipped ones.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 for warnings, too.")] = False,
    dialect: Annotated[
        str | None, typer.Option("--dialect", help="Only show what this dialect lacks.")
    ] = None,
) -> None:
    """Check rules, profiles and recordings for mistakes."""
    if dialect is not None:
        _put_gaps(dialect, has_paths=bool(paths))
    with progress_line("linting ..."):
        written, recorded = split_paths(paths or [specs()])
        problems = list(lint_paths(written)) if written else []
        problems += [*lint_baselines(written), *lint_scenarios(written), *lint_systems(written)]
        problems += lint_projects(written)
        linted = lint_recordings(recorded, suites_in(written)) if recorded else None
        problems += linted.problems if linted else []
    for problem in problems:
        code = f" [{problem.code}]" if problem.code else ""
        put(f"{visible(str(problem.place))}: {problem.severity}: {visible(problem.message)}{code}")
    if linted:
        put(_count_kinds(linted.kinds))
    errors = sum(problem.severity == "error" for problem in problems)
    put(f"{count(errors, 'error')}, {count(len(problems) - errors, 'warning')}")
    if errors:
        raise typer.Exit(USAGE)
    raise typer.Exit(FINDINGS if problems and strict else CONFORMS)


def _put_gaps(dialect: str, *, has_paths: bool) -> NoReturn:
    if has_paths:
        raise UsageError("--dialect takes no files: it checks what ships with the tool")
    with progress_line("looking ..."):
        gaps = dialect_gaps(dialect)
    for gap in gaps:
        put(f"{dialect}: {visible(gap)}")
    put(f"{dialect}: {count(len(gaps), 'gap')}")
    raise typer.Exit(FINDINGS if gaps else CONFORMS)


def _count_kinds(kinds: Mapping[str, int]) -> str:
    each = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    return f"{count(sum(kinds.values()), 'recording')}{f': {each}' if each else ''}"
