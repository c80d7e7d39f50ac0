"""`conformance baseline`: the violations of a run, written down as expected failures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from conformance.baseline.drafting import BaselineChange, draft_baseline, prune_baseline
from conformance.baseline.entries import Baseline, BaselineEntry, load_baseline
from conformance.baseline.spelling import heading_of, spell_baseline
from conformance.cli import options as shared
from conformance.cli.failures import CONFORMS, INTERNAL, NOTHING, USAGE
from conformance.cli.terminal import progress_line, put, warn, warn_errors
from conformance.core.errors import Place, UsageError
from conformance.judging.result import Report
from conformance.recordings.check import check_paths
from conformance.report.files import write_whole
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.rules.verdicts import Verdict
from conformance.runs.project_schemas import schema_line

_UpdateOption = Annotated[
    bool, typer.Option("--update", help="Keep the entries of FILE whose failures still occur.")
]
_PruneOption = Annotated[
    bool,
    typer.Option("--prune", help="Only delete the entries of FILE whose failures no longer occur."),
]
_PinOption = Annotated[
    bool,
    typer.Option(
        "--pin", help="Expect this finding (whatever its values), not every finding of the rule."
    ),
]


def baseline_command(  # noqa: PLR0917  # typer makes options of parameters
    paths: Annotated[list[Path], typer.Argument(help="Recordings, or folders of cassettes.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="File to write.")],
    reason: Annotated[str, typer.Option(help="Why new entries are expected to fail.")] = "",
    update: _UpdateOption = False,
    prune: _PruneOption = False,
    target: Annotated[str | None, typer.Option(help="Target of recordings that name none.")] = None,
    pin: _PinOption = False,
    dialect: shared.DialectOption = None,
    profile: shared.ProfileOption = None,
    suite: shared.SuiteOption = None,
    rule: shared.RuleOption = None,
    rules_as_of: shared.AsOfOption = None,
    trust: shared.TrustOption = None,
) -> None:
    """Write the violations that a target is expected to have."""
    _check_prune(alone=not (update or reason or pin), prune=prune)
    before = _load_before(output, target, update=update or prune)
    heading = _file_heading(output, is_there=update or prune)
    suites, rules = suite or (), rule or ()
    with progress_line("checking ..."):
        report = check_paths(
            paths,
            dialect=dialect,
            profile=profile,
            suites=suites,
            rules=rules,
            as_of=rules_as_of,
            trust=shared.trusted_by(trust),
        )
    _refuse_unjudged(report)
    drafted = partial(draft_baseline, reason=reason, pin=pin)
    change = (prune_baseline if prune else drafted)(report, before)
    write_whole(output, spell_baseline(change.baseline, heading=heading).encode())
    put(_describe_change(output, change))
    raise typer.Exit(CONFORMS)


def _file_heading(output: Path, *, is_there: bool) -> str:
    """Comments that stay, or the line for editors of a new file."""
    if is_there:
        return heading_of(output.read_text(encoding="utf-8"))
    return schema_line("baseline", output)


def _check_prune(*, prune: bool, alone: bool) -> None:
    if prune and not alone:
        raise UsageError("--prune only deletes: it goes without --update, --reason and --pin")


def _load_before(output: Path, target: str | None, *, update: bool) -> Baseline:
    if not update:
        if output.exists():
            hint = "--update keeps its reasons"
            raise UsageError("the file already exists", place=Place(str(output)), hint=hint)
        return Baseline(str(output), (), target or "")
    before = load_baseline(output)
    return Baseline(before.file, before.entries, before.target if target is None else target)


def _refuse_unjudged(report: Report) -> None:
    """What could not be judged is never expected, so nothing is written."""
    warn_errors(report.errors)
    broken = [rule for rule, verdict in report.verdicts.items() if verdict is Verdict.ERROR]
    if broken:
        warn(f"error: rules ended in ERROR: {', '.join(broken)}")
        raise typer.Exit(INTERNAL)
    if report.errors:
        raise typer.Exit(USAGE)
    if not report.verdicts:
        warn("error: no rule judged anything")
        raise typer.Exit(NOTHING)


def _describe_change(output: Path, change: BaselineChange) -> str:
    lines = [*_entry_lines("+", change.added), *_entry_lines("-", change.dropped)]
    kept = len(change.baseline.entries) - len(change.added)
    counts = f"{len(change.added)} new, {kept} kept, {len(change.dropped)} dropped"
    return "\n".join([*lines, f"{visible(str(output))}: {counts}"])


def _entry_lines(sign: str, entries: Sequence[BaselineEntry]) -> Iterator[str]:
    """A line for all entries that expect the same."""
    alike: dict[tuple[str, str], list[BaselineEntry]] = {}
    for entry in entries:
        alike.setdefault((entry.rule, entry.finding), []).append(entry)
    for (rule, finding), (first, *others) in alike.items():
        more = f" and {count(len(others), 'more exchange')}" if others else ""
        where = f"{first.target} {first.exchange}{more}"
        yield visible(f"{sign} {rule}  {where} {finding}".rstrip())
