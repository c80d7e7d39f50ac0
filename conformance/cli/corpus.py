"""`conformance corpus`: many recorded streams, judged, grouped and sampled.

Exit codes of `corpus check`: 0 everything was judged, whatever was found; 2 something was not
readable; 5 the source holds no stream. `corpus report --fail-on` decides what fails a job.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.corpus_progress import CheckReporter, engine_of
from conformance.cli.failures import CONFORMS, USAGE
from conformance.cli.options import (
    AsOfOption,
    DialectOption,
    ProfileOption,
    RuleOption,
    SuiteOption,
)
from conformance.cli.terminal import put
from conformance.corpus.checking import check_corpus
from conformance.corpus.columns import ColumnNames, read_columns
from conformance.corpus.judge import JudgeChoices
from conformance.report.printable import visible

corpus_app = typer.Typer(add_completion=False, rich_markup_mode=None)
_SourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", help="A folder, a file, or a URL (s3://bucket/folder).")
]
_MapOption = Annotated[
    Path | None,
    typer.Option("--map", metavar="FILE", help="YAML that says which column holds what."),
]


@corpus_app.callback(invoke_without_command=True)
def corpus_command(context: typer.Context) -> None:
    """Judge very many recorded streams: check, report, sample, inspect."""
    if context.invoked_subcommand is None:
        put(context.get_help())


@corpus_app.command("check")
def check_command(  # noqa: PLR0917  # typer makes options of parameters
    source: _SourceArgument,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the verdicts go; taken up again.")
    ],
    map_: _MapOption = None,
    processes: Annotated[
        int | None,
        typer.Option("-j", "--processes", min=1, help="How many; default: one a processor."),
    ] = None,
    engine: Annotated[str, typer.Option(metavar="ENGINE", help="local, or ray.")] = "local",
    ray_address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Join this cluster of Ray.")
    ] = None,
    dialect: DialectOption = None,
    profile: ProfileOption = None,
    suite: SuiteOption = None,
    rule: RuleOption = None,
    rules_as_of: AsOfOption = None,
) -> None:
    """Judge a corpus into a folder of Parquet files; go on where an earlier run stopped."""
    columns = read_columns(map_) if map_ else ColumnNames()
    choices = JudgeChoices(
        dialect, profile, tuple(suite or ()), tuple(rule or ()), rules_as_of, columns
    )
    with CheckReporter() as reporter:
        places = engine_of(engine, processes, ray_address)
        progress = check_corpus(source, out, choices, places, reporter.show)
    reporter.warn_faults(progress)
    put(visible(reporter.summary(progress, out)))
    raise typer.Exit(USAGE if progress.unreadable else CONFORMS)
