"""Baselines, linted: what no run can tell apart from a stale entry, told before the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from conformance.baseline.entries import load
from conformance.core.errors import ConformanceError, Place
from conformance.judging.run_rules import ADDED_RULES
from conformance.judging.suites import shipped_suites
from conformance.linting.specs import Problem
from conformance.recordings.hygiene import suites_in
from conformance.rules import document
from conformance.rules.node import nearest


def lint_baselines(paths: Sequence[Path], *, today: date | None = None) -> list[Problem]:
    """Problems of the baselines among files and below folders; `today` is in UTC unless given."""
    suites = (*shipped_suites(), *suites_in(paths))
    rules = {rule.id for suite in suites for rule in suite.rules}
    rules |= ADDED_RULES.keys()
    day = today or datetime.now(UTC).date()
    return [
        problem for path in _baseline_files(paths) for problem in _entry_problems(path, rules, day)
    ]


def _baseline_files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        files = sorted(path.rglob("*.y*ml")) if path.is_dir() else [path]
        yield from (file for file in files if _is_baseline(file))


def _is_baseline(path: Path) -> bool:
    try:
        root = document.load(path)
    except ConformanceError:
        return False  # told as any other file that is no document
    return root.kind == "mapping" and "entries" in root.mapping()


def _entry_problems(path: Path, rules: set[str], day: date) -> Iterator[Problem]:
    try:
        baseline = load(path)
    except ConformanceError as err:
        message = f"{err.message} ({err.hint})" if err.hint else err.message
        yield Problem(err.place or Place(str(path)), message, "error")
        return
    for entry in baseline.entries:
        if entry.rule not in rules:
            near = nearest(entry.rule, rules)
            message = f"there is no rule {entry.rule!r}{f' ({near})' if near else ''}"
            yield Problem(entry.place, message, "error")
        if entry.until is not None and entry.until < day:
            yield Problem(entry.place, f"the entry held until {entry.until} only", "warning")
