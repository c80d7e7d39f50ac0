"""`conformance corpus`: many recorded streams, judged, grouped and sampled.

Exit codes of `corpus check`: 0 everything was judged, whatever was found; 2 something was not
readable; 5 the source holds no stream. `corpus report --fail-on` decides what fails a job.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.configured import ConfiguredCommand
from conformance.cli.corpus_progress import CheckReporter, engine_of
from conformance.cli.corpus_report import (
    chosen_outputs,
    parse_condition,
    render_report,
    since_time,
    write_reports,
)
from conformance.cli.failures import CONFORMS, FINDINGS, NOTHING, USAGE
from conformance.cli.options import (
    AsOfOption,
    DialectOption,
    OutputsOption,
    ProfileOption,
    RuleOption,
    SuiteOption,
)
from conformance.cli.terminal import has_colour, progress_line, put, warn
from conformance.corpus.checking import check_corpus
from conformance.corpus.columns import read_columns
from conformance.corpus.grouping import BY, corpus_report
from conformance.corpus.inspection import inspect_source, inspection_text
from conformance.corpus.judge import JudgeChoices
from conformance.corpus.rows import UnreadableStream
from conformance.corpus.sampling import sample_corpus
from conformance.report.printable import visible
from conformance.report.wording import count

corpus_app = typer.Typer(add_completion=False, rich_markup_mode=None)
_SourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", help="A folder, a file, or a URL (s3://bucket/folder).")
]
_MapOption = Annotated[
    Path | None,
    typer.Option("--map", metavar="FILE", help="YAML that says which column holds what."),
]

_ByOption = Annotated[
    list[str] | None,
    typer.Option(help="Group by this column; repeatable; default: provider, model, week."),
]
_FailOnOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LEVEL|RULE",
        help="Exit 1 for findings of this level or a higher one, or of rules that match this glob.",
    ),
]
_MovedOption = Annotated[str | None, typer.Option(help="Where the source is now, if it was moved.")]


@corpus_app.callback(invoke_without_command=True)
def corpus_command(context: typer.Context) -> None:
    """Judge millions of streams: check, report, sample, inspect."""
    if context.invoked_subcommand is None:
        put(context.get_help())


@corpus_app.command("check", cls=ConfiguredCommand)
def check_command(  # noqa: PLR0917  # typer makes options of parameters
    source: _SourceArgument,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder of verdicts, new or continued.")
    ],
    map_: _MapOption = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Keep this column for report --by; repeatable."),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option("-j", "--processes", min=1, help="Workers; default: one per processor."),
    ] = None,
    engine: Annotated[str, typer.Option(metavar="ENGINE", help="local or ray.")] = "local",
    ray_address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address of a Ray cluster.")
    ] = None,
    dialect: DialectOption = None,
    profile: ProfileOption = None,
    suite: SuiteOption = None,
    rule: RuleOption = None,
    rules_as_of: AsOfOption = None,
) -> None:
    """Judge a corpus and write Parquet files to a folder; continue an earlier run."""
    columns = read_columns(map_, keep or ())
    choices = JudgeChoices(
        dialect, profile, tuple(suite or ()), tuple(rule or ()), rules_as_of, columns
    )
    with CheckReporter() as reporter:
        places = engine_of(engine, processes, ray_address)
        progress = check_corpus(source, out, choices, places, reporter.show)
    reporter.warn_faults(progress)
    put(visible(reporter.summary(progress, out)))
    is_bad = progress.unreadable or progress.repeated
    raise typer.Exit(USAGE if is_bad else CONFORMS)


@corpus_app.command("inspect", cls=ConfiguredCommand)
def inspect_command(
    source: _SourceArgument,
    map_: _MapOption = None,
    dialect: DialectOption = None,
    profile: ProfileOption = None,
) -> None:
    """Show the first rows of a source and how they are read."""
    columns = read_columns(map_)
    found = inspect_source(source, JudgeChoices(dialect, profile, columns=columns))
    put(inspection_text(found, columns))
    unreadable = all(isinstance(row, UnreadableStream) for row in found.rows)
    raise typer.Exit(USAGE if unreadable else CONFORMS)


@corpus_app.command("report", cls=ConfiguredCommand)
def report_command(  # noqa: PLR0917  # typer makes options of parameters
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that corpus check wrote.")],
    by: _ByOption = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only streams from this time on, ISO 8601.")
    ] = None,
    fail_on: _FailOnOption = None,
    source: _MovedOption = None,
    outputs: OutputsOption = None,
    format_: Annotated[
        str, typer.Option("--format", help="Format on stdout: text, json or html.")
    ] = "text",
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show everything.")] = False,
) -> None:
    """Group the findings of a checked corpus by cause, provider, model and week."""
    wanted = chosen_outputs(format_, outputs or ())
    conditions = [parse_condition(each) for each in fail_on or ()]
    with progress_line("grouping ..."):
        report = corpus_report(folder, by or BY, since_time(since))
        shown = render_report(report, format_, source, verbose=verbose, colour=has_colour())
        write_reports(report, wanted, source)
    put(shown)
    if not report.streams:
        warn("error: no stream was judged" + (" since then" if since else ""))
        raise typer.Exit(NOTHING)
    is_met = any(condition(group) for condition in conditions for group in report.groups)
    raise typer.Exit(FINDINGS if is_met else CONFORMS)


@corpus_app.command("sample", cls=ConfiguredCommand)
def sample_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that corpus check wrote.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="OUT", help="Folder to write; new or empty.")
    ],
    source: _MovedOption = None,
) -> None:
    """Write a few redacted recordings that together show every finding and exercise every rule."""
    with progress_line("choosing rows ..."):
        sample = sample_corpus(folder, output, source)
    for each in sample.left_out:
        warn(f"left out: {visible(each)}")
    failing = sum(bool(each.fails) for each in sample.recordings)
    put(
        f"{count(len(sample.recordings), 'recording')}, {failing} with findings, "
        f"{count(sample.exercised, 'rule')} passed: {visible(str(output))}"
    )
    put("Read them through before you publish them: secrets are replaced, prompts are not.")
    raise typer.Exit(CONFORMS if sample.recordings else NOTHING)
