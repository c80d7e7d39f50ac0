"""Tables of systems, linted: what the loader refuses, and names that nothing bears."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from conformance.cassette import discover
from conformance.core.errors import ConformanceError, Place
from conformance.core.shipped import cassettes
from conformance.judging.run_rules import ADDED_RULES
from conformance.linting import (
    documents_with,
    error_problem,
    known_rules,
    unknown_name,
)
from conformance.profiles.lookup import available
from conformance.rules.lint import Problem
from conformance.rules.node import Node
from conformance.scenarios import Scenario, load_scenario, load_scenarios
from conformance.systems.reports import glob_covers
from conformance.systems.tables import read_system

# What a run of a client calls its cases that are no recordings.
CASE_GROUPS: Final = ("choices", "stored", "extracted")
_RECORDED: Final = ".cassette.jsonl"


class KnownNames(Struct, frozen=True):
    """Everything that a table may name."""

    rules: frozenset[str]
    exchanges: frozenset[str]  # scenario/role
    profiles: frozenset[str]


def lint_systems(paths: Sequence[Path]) -> list[Problem]:
    """Problems of the tables of systems among files and below folders."""
    found = list(documents_with("system", paths))
    if not found:
        return []
    known = known_names(paths)
    return [problem for path, root in found for problem in _table_problems(path, root, known)]


def known_names(paths: Sequence[Path]) -> KnownNames:
    """What ships, and what lies below the folders."""
    rules = known_rules(paths) | ADDED_RULES.keys()
    folders = [each for path in paths for each in (path / "profiles",) if each.is_dir()]
    profiles = frozenset(name for name, _, _ in available(folders))
    return KnownNames(rules, _exchange_names(paths), profiles)


def _exchange_names(paths: Sequence[Path]) -> frozenset[str]:
    """Scenarios with their roles, shipped recordings, and the groups of cases of a client."""
    steps = {f"{s.name}/{step.role}" for s in _loaded_scenarios(paths) for step in s.steps}
    top = cassettes()
    recorded = (path.relative_to(top).as_posix() for path in discover(top))
    return frozenset(
        {*steps, *(f"{each.removesuffix(_RECORDED)}/" for each in recorded)}
        | {f"{group}/" for group in CASE_GROUPS}
    )


def _loaded_scenarios(paths: Sequence[Path]) -> Iterator[Scenario]:
    yield from load_scenarios()
    for file, _ in documents_with("scenario", [path for path in paths if path.is_dir()]):
        try:
            yield load_scenario(file)
        except ConformanceError:
            continue  # the lint of scenarios reports it


def _table_problems(path: Path, root: Node, known: KnownNames) -> Iterator[Problem]:
    try:
        system = read_system(root)
    except ConformanceError as err:
        yield error_problem(err, Place(str(path)))
        return
    for preset in system.presets:
        if preset.profile not in known.profiles:
            yield unknown_name("profile", preset.profile, known.profiles, preset.place)
    for each in system.requirements:
        for rule in each.rules:
            if rule not in known.rules:
                yield unknown_name("rule", rule, known.rules, each.place)
        for glob in each.scenarios:
            if not any(_is_named(name, glob) for name in known.exchanges):
                yield unknown_name("scenario", glob, known.exchanges, each.place)


def _is_named(name: str, glob: str) -> bool:
    # Of a name that ends in a slash only a run knows the roles: any of them will do.
    return glob_covers(glob, name) or (name.endswith("/") and glob.startswith(name))
