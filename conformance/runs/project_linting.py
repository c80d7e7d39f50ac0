"""Lint of `conformance.yaml`, in any folder: the mistakes that would stop a verb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.cassette.importers.recorders.own_rows import own_importers
from conformance.core.configuration import CONFIGURATION
from conformance.core.errors import ConformanceError, Place
from conformance.linting import error_problem
from conformance.recordings.trust import configured_trust
from conformance.rules.lint import Problem
from conformance.runs.project import read_project


def lint_projects(paths: Sequence[Path]) -> Iterator[Problem]:
    """The first mistake of each such file among the paths and below folders."""
    for path in paths:
        for file in sorted(path.rglob(CONFIGURATION)) if path.is_dir() else [path]:
            if file.name == CONFIGURATION:
                yield from _problems(file)


def _problems(file: Path) -> Iterator[Problem]:
    try:
        read_project(file.parent)
        configured_trust(file.parent)
        own_importers(file.parent)
    except ConformanceError as err:
        yield error_problem(err, Place(str(file)))
