"""Scenarios, linted: what the loader refuses, and globs that no rule fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from conformance.core.errors import ConformanceError, Place
from conformance.linting import documents_with, error_problem, known_rules
from conformance.rules.lint import Problem
from conformance.rules.node import Node
from conformance.scenarios.load import read_scenario


def lint_scenarios(paths: Sequence[Path]) -> list[Problem]:
    """Problems of the scenarios among files and below folders."""
    rules = known_rules(paths)
    return [
        problem
        for path, root in documents_with("scenario", paths)
        for problem in _scenario_problems(path, root, rules)
    ]


def _scenario_problems(path: Path, root: Node, rules: frozenset[str]) -> Iterator[Problem]:
    try:
        scenario = read_scenario(root)
    except ConformanceError as err:
        yield error_problem(err, Place(str(path)))
        return
    for glob in scenario.exercises:
        if not any(fnmatchcase(rule, glob) for rule in rules):
            place = root.required("exercises").place
            yield Problem(place, f"no rule fits {glob!r}", "warning")
    for step in scenario.steps:
        for rule in step.excused:
            if rule not in rules:
                yield Problem(step.place, f"`excused` names {rule!r}, which is no rule", "error")
