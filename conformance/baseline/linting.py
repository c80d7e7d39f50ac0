"""Lint of baselines: mistakes that would look like stale entries in a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from conformance.baseline.entries import fits, load_baseline
from conformance.core.errors import ConformanceError, Place
from conformance.judging.run_rules import ADDED_RULES
from conformance.linting import (
    documents_with,
    error_problem,
    known_rules,
    unknown_name,
)
from conformance.rules.lint import Problem


def lint_baselines(paths: Sequence[Path], *, today: date | None = None) -> list[Problem]:
    """Problems of the baselines among files and below folders; `today` is in UTC unless given."""
    rules = known_rules(paths).union(ADDED_RULES)
    day = today or datetime.now(UTC).date()
    return [
        problem
        for path, _ in documents_with("entries", paths)
        for problem in _baseline_problems(path, rules, day)
    ]


def _baseline_problems(path: Path, rules: frozenset[str], day: date) -> Iterator[Problem]:
    try:
        baseline = load_baseline(path)
    except ConformanceError as err:
        yield error_problem(err, Place(str(path)))
        return
    for entry in baseline.entries:
        if not any(fits(entry.rule, rule) for rule in rules):
            yield unknown_name("rule", entry.rule, rules, entry.place)
        if entry.until is not None and entry.until < day:
            yield Problem(entry.place, f"the entry held until {entry.until} only", "warning")
