"""`conformance check`: recordings in, verdicts and findings out, offline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from conformance.baseline.entries import load_baseline
from conformance.cli import options as shared
from conformance.cli.failures import CONFORMS, NOTHING
from conformance.cli.judged_report import CallClock, check_outputs, put_report, warn_unanswered
from conformance.cli.terminal import progress_line, warn, warn_errors
from conformance.judging.result import Report
from conformance.judging.rule_names import fits_rule
from conformance.judging.rulebook import Rulebook
from conformance.judging.run_rules import ADDED_RULES
from conformance.recordings.check import check_paths
from conformance.recordings.choices import CheckChoices
from conformance.recordings.progress import CheckProgress
from conformance.recordings.rechunk import rechunk_paths
from conformance.report.printable import visible

# Suites, rules, and the release whose rules count.
_Chosen = tuple[Sequence[str], Sequence[str], str | None]
_RechunkOption = Annotated[
    int,
    typer.Option(
        min=0, help="Also judge this many random re-chunkings, which must change nothing."
    ),
]
_UpstreamOption = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="PATH",
        help="Recording of what the provider sent to the application, to compare with what"
        " the application sent; repeatable.",
    ),
]


def check_command(  # noqa: PLR0917  # typer makes options of parameters
    paths: Annotated[list[Path], typer.Argument(help="Recordings, or folders of cassettes.")],
    dialect: shared.DialectOption = None,
    profile: shared.ProfileOption = None,
    suite: shared.SuiteOption = None,
    rule: shared.RuleOption = None,
    rules_as_of: shared.AsOfOption = None,
    expected_failures: shared.ExpectedOption = None,
    rechunk: _RechunkOption = 0,
    upstream: _UpstreamOption = None,
    trust: shared.TrustOption = None,
    strict: shared.StrictOption = False,
    require_exercised: shared.ExercisedOption = False,
    outputs: shared.OutputsOption = None,
    format_: shared.FormatOption = "text",
    verbose: shared.VerboseOption = False,
) -> None:
    """Judge recorded streams by the rules, offline."""
    check_outputs(format_, outputs or ())
    baseline = load_baseline(expected_failures) if expected_failures else None
    suites, rules, clock = suite or (), rule or (), CallClock(suite or (), rules_as_of)
    with progress_line(f"checking {_path_names(paths)} ...") as show:
        report = check_paths(
            paths,
            dialect=dialect,
            profile=profile,
            suites=suites,
            rules=rules,
            as_of=rules_as_of,
            jobs=None,
            trust=shared.trusted_by(trust),
            upstream=upstream or (),
            progress=CheckProgress(show),
        )
        _try_chunkings(paths, CheckChoices(dialect, profile), (suites, rules, rules_as_of), rechunk)
    report = shared.with_config_notes(clock.stopped(report), trusts=True)
    written = put_report(report, baseline, format_, outputs or (), verbose=verbose)
    code = written.exit_code(strict=strict, require_exercised=require_exercised)
    raise typer.Exit(_exit_code(written, code, paths, rules))


def _try_chunkings(paths: list[Path], choices: CheckChoices, chosen: _Chosen, rounds: int) -> None:
    if rounds:
        rechunk_paths(paths, Rulebook.load(*chosen), choices, rounds=rounds)


def _exit_code(report: Report, code: int, paths: list[Path], rules: Sequence[str]) -> int:
    """NOTHING for streams that no rule looked at: they would look green."""
    warn_errors(report.errors)
    is_judged = any(stream.verdicts for stream in report.streams)
    if is_judged or code not in (CONFORMS, NOTHING):
        if code == NOTHING:
            warn_unanswered(report)
        return code
    warn(f"error: {_describe_nothing(report, paths, rules)}")
    return NOTHING


def _describe_nothing(report: Report, paths: list[Path], rules: Sequence[str]) -> str:
    added = [id_ for id_ in ADDED_RULES if any(fits_rule(id_, each) for each in rules)]
    if report.streams and added:
        more = f" and {len(added) - 1} more" if len(added) > 1 else ""
        return (
            f"{added[0]}{more}: only a run judges it, by what it knows beforehand"
            f" (conformance explain {added[0]})"
        )
    if report.streams:
        return f"no rule judges {', '.join(sorted({s.dialect for s in report.streams}))}"
    return f"no recording below {_path_names(paths)} (conformance list files says what is read)"


def _path_names(paths: list[Path]) -> str:
    return ", ".join(visible(str(path), 60) for path in paths[:3])
