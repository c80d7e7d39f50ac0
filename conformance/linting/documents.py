"""What linters of YAML files share: the files of a kind, known rules, faults as problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from conformance.core.errors import ConformanceError, Place
from conformance.judging.suites import shipped_suites
from conformance.recordings.linting import suites_in
from conformance.rules import document
from conformance.rules.lint import Problem
from conformance.rules.node import Node, nearest


def documents_with(key: str, paths: Sequence[Path]) -> Iterator[tuple[Path, Node]]:
    """Files among the paths and below folders whose document is a mapping with the key."""
    for path in paths:
        for file in sorted(path.rglob("*.y*ml")) if path.is_dir() else [path]:
            try:
                root = document.load(file)
            except ConformanceError:
                continue  # the lint of suites and profiles says that it is no document
            if root.kind == "mapping" and root.get(key):
                yield file, root


def known_rules(paths: Sequence[Path]) -> frozenset[str]:
    """Ids of the shipped rules and of those below folders."""
    suites = (*shipped_suites(), *suites_in(paths))
    return frozenset(rule.id for suite in suites for rule in suite.rules)


def error_problem(err: ConformanceError, place: Place) -> Problem:
    """The error as a problem, at `place` where it names none."""
    message = f"{err.message} ({err.hint})" if err.hint else err.message
    return Problem(err.place or place, message, "error")


def unknown_name(kind: str, name: str, known: Iterable[str], place: Place) -> Problem:
    """A name that nothing bears, with the nearest one."""
    near = nearest(name, tuple(known))
    return Problem(place, f"there is no {kind} {name!r}{f' ({near})' if near else ''}", "error")
