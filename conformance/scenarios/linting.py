"""Scenarios, linted: what the loader refuses, and globs that no rule fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from conformance.core.errors import ConformanceError, Place
from conformance.judging.suites import shipped_suites
from conformance.recordings.hygiene import suites_in
from conformance.rules import document
from conformance.rules.lint import Problem
from conformance.rules.node import Node
from conformance.scenarios.load import read_scenario


def lint_scenarios(paths: Sequence[Path]) -> list[Problem]:
    """Problems of the scenarios among files and below folders."""
    suites = (*shipped_suites(), *suites_in(paths))
    rules = {rule.id for suite in suites for rule in suite.rules}
    return [
        problem for path in paths for file in _files(path) for problem in _problems(file, rules)
    ]


def _files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.y*ml")) if path.is_dir() else [path]


def _problems(path: Path, rules: set[str]) -> Iterator[Problem]:
    root = _scenario(path)
    if root is None:
        return
    try:
        scenario = read_scenario(root)
    except ConformanceError as err:
        message = f"{err.message} ({err.hint})" if err.hint else err.message
        yield Problem(err.place or Place(str(path)), message, "error")
        return
    for glob in scenario.exercises:
        if not any(fnmatchcase(rule, glob) for rule in rules):
            place = root.required("exercises").place
            yield Problem(place, f"no rule fits {glob!r}", "warning")
    for step in scenario.steps:
        for rule in step.excused:
            if rule not in rules:
                yield Problem(step.place, f"`excused` names {rule!r}, which is no rule", "error")


def _scenario(path: Path) -> Node | None:
    try:
        root = document.load(path)
    except ConformanceError:
        return None  # told as any other file that is no document
    return root if root.kind == "mapping" and root.get("scenario") else None
