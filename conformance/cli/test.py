"""`conformance test`: the examples of rules, each judged by its rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

import typer

from conformance.cli.failures import CONFORMS, FINDINGS, NOTHING, USAGE
from conformance.cli.options import RuleOption
from conformance.cli.terminal import progress_line, put, warn, warn_errors
from conformance.core.errors import ConformanceError
from conformance.judging.rule_names import chosen_rules
from conformance.judging.suites import load_suites
from conformance.recordings.rule_tests import ExampleJudge, ExampleOutcome
from conformance.report.printable import visible
from conformance.report.rule_tests import example_line, finding_line
from conformance.report.wording import count
from conformance.rules.model import Rule


def test_command(
    suites: Annotated[
        list[str],
        typer.Argument(metavar="RULES...", help="Rule files, folders of them, or suite ids."),
    ],
    rule: RuleOption = None,  # noqa: PT028  # a verb, no test
    verbose: Annotated[
        bool,
        typer.Option("-v", "--verbose", help="Also show what was found in examples that fail."),
    ] = False,  # noqa: PT028  # as above
) -> None:
    """Test rules on the examples in their files."""
    loaded = load_suites(suites)
    rules = chosen_rules([each for suite in loaded for each in suite.rules], rule or ())
    judges = {suite.id: ExampleJudge(suite) for suite in loaded}
    counts: Counter[str] = Counter()
    errors: list[str] = []
    with progress_line("trying examples ..."):
        lines = list(_outcome_lines(rules, judges, counts, errors, verbose=verbose))
    for line in lines:
        put(line)
    warn_errors(errors)
    put(_counts_line(rules, counts))
    raise typer.Exit(_exit_code(counts))


def _outcome_lines(
    rules: list[Rule],
    judges: dict[str, ExampleJudge],
    counts: Counter[str],
    errors: list[str],
    *,
    verbose: bool,
) -> Iterator[str]:
    for rule in rules:
        judge = judges[rule.id.rpartition("/")[0]]
        for _, outcome in judge.outcomes([rule]):
            counts[_outcome_word(outcome)] += 1
            if isinstance(outcome, ConformanceError):
                errors.append(str(outcome))
                continue
            yield example_line(outcome)
            if verbose and outcome.finding is not None:
                yield f"  {finding_line(outcome)}"


def _outcome_word(outcome: ExampleOutcome) -> str:
    if isinstance(outcome, ConformanceError):
        return "error"
    return "ok" if outcome.holds else "failed"


def _counts_line(rules: list[Rule], counts: Counter[str]) -> str:
    without = sum(not each.examples for each in rules)
    words = [count(counts.total(), "example"), f"{counts['failed']} failed"]
    words += [count(counts["error"], "error")] if counts["error"] else []
    words += [f"{count(without, 'rule')} without an example"] if without else []
    return visible(", ".join(words))


def _exit_code(counts: Counter[str]) -> int:
    if counts["error"]:
        return USAGE
    if not counts:
        warn("error: no rule has an example: add `keeps` and `breaks` to it")
        return NOTHING
    return FINDINGS if counts["failed"] else CONFORMS
