"""Tables of systems, linted: what the loader refuses, and names that nothing bears."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.cassette import discover
from conformance.core.errors import ConformanceError, Place
from conformance.core.shipped import cassettes, specs
from conformance.judging.run_rules import ADDED_RULES
from conformance.judging.suites import shipped_suites
from conformance.linting.specs import Problem
from conformance.profiles.profile import available
from conformance.recordings.hygiene import suites_in
from conformance.rules import document
from conformance.rules.node import nearest
from conformance.scenarios import Scenario, load_scenario, load_scenarios
from conformance.systems.catalogue import names
from conformance.systems.contradictions import Axis, load_contradictions
from conformance.systems.load import load_system
from conformance.systems.model import Requirement, System
from conformance.systems.reports import covers

# What a run of a client calls its cases that are no recordings.
CASE_GROUPS: Final = ("choices", "stored", "extracted")
_RECORDED: Final = ".cassette.jsonl"


@dataclass(frozen=True, slots=True)
class Known:
    """Everything that a table may name."""

    rules: frozenset[str]
    exchanges: frozenset[str]  # scenario/role
    profiles: frozenset[str]
    knobs: frozenset[str]
    systems: Mapping[str, System]


def lint_systems(paths: Sequence[Path]) -> list[Problem]:
    """Problems of the tables of systems among files and below folders."""
    found = [(path, kind) for path in paths for path, kind in _tables(path)]
    if not found:
        return []
    known = _known(paths, [path for path, kind in found if kind == "system"])
    return [
        problem
        for path, kind in found
        for problem in (_system(path, known) if kind == "system" else _axes(path, known))
    ]


def _tables(path: Path) -> Iterator[tuple[Path, str]]:
    for file in sorted(path.rglob("*.y*ml")) if path.is_dir() else [path]:
        try:
            keys = document.load(file).mapping()
        except ConformanceError:
            continue  # told as any other file that is no document
        yield from ((file, kind) for kind in ("system", "contradictions") if kind in keys)


def _known(paths: Sequence[Path], tables: Iterable[Path]) -> Known:
    suites = (*shipped_suites(), *suites_in(paths))
    rules = {rule.id for suite in suites for rule in suite.rules}
    rules |= ADDED_RULES.keys()
    folders = [each for path in paths for each in (path / "profiles",) if each.is_dir()]
    profiles = {name for name, _, _ in available(folders)}
    shipped = [specs() / "systems" / f"{name}.yaml" for name in names()]
    systems = {each.name: each for path in (*shipped, *tables) for each in _read(path)}
    return Known(frozenset(rules), _exchanges(paths), frozenset(profiles), _knobs(), systems)


def _read(path: Path) -> Iterator[System]:
    try:
        yield load_system(path)
    except ConformanceError:
        return  # told where that file is linted


def _knobs() -> frozenset[str]:
    strict = [document.load(path) for name, _, path in available() if name == "strict"]
    return frozenset(knob for root in strict for knob in root.required("knobs").mapping())


def _exchanges(paths: Sequence[Path]) -> frozenset[str]:
    """Scenarios with their roles, shipped recordings, and the groups of cases of a client."""
    steps = {f"{s.name}/{step.role}" for s in _scenarios(paths) for step in s.steps}
    top = cassettes()
    recorded = (path.relative_to(top).as_posix() for path in discover(top))
    return frozenset(
        {*steps, *(f"{each.removesuffix(_RECORDED)}/" for each in recorded)}
        | {f"{group}/" for group in CASE_GROUPS}
    )


def _scenarios(paths: Sequence[Path]) -> Iterator[Scenario]:
    yield from load_scenarios()
    for file in (file for path in paths if path.is_dir() for file in path.rglob("*.y*ml")):
        try:
            if "scenario" in document.load(file).mapping():
                yield load_scenario(file)
        except ConformanceError:
            continue  # told where scenarios are linted


def _system(path: Path, known: Known) -> Iterator[Problem]:
    try:
        system = load_system(path)
    except ConformanceError as err:
        yield _problem(err, path)
        return
    for preset in system.presets:
        if preset.profile not in known.profiles:
            yield _missing("profile", preset.profile, known.profiles, preset.place)
    for each in system.requirements:
        yield from _requirement(each, known)


def _requirement(each: Requirement, known: Known) -> Iterator[Problem]:
    for rule in each.rules:
        if rule not in known.rules:
            yield _missing("rule", rule, known.rules, each.place)
    for glob in each.scenarios:
        if not any(covers(glob, name) or _is_role(glob, name) for name in known.exchanges):
            yield _missing("scenario", glob, known.exchanges, each.place)


def _is_role(glob: str, name: str) -> bool:
    """Whether it names a role of something whose roles only a run knows."""
    return name.endswith("/") and glob.startswith(name)


def _axes(path: Path, known: Known) -> Iterator[Problem]:
    try:
        axes = load_contradictions(path).axes
    except ConformanceError as err:
        yield _problem(err, path)
        return
    for axis in axes:
        yield from (_missing(*each, axis.place) for each in _unknown(axis, known))


def _unknown(axis: Axis, known: Known) -> Iterator[tuple[str, str, Iterable[str]]]:
    presets = {each.name for system in known.systems.values() for each in system.presets}
    profiles = {each.profile for system in known.systems.values() for each in system.presets}
    named = (
        ("system", axis.does, known.systems),
        ("rule", axis.rules, known.rules),
        ("knob", axis.knobs, known.knobs),
        ("profile", axis.fails, profiles),
        ("preset", [name for each in axis.fails.values() for name in each], presets),
    )
    for kind, used, there in named:
        yield from ((kind, name, there) for name in used if name not in there)


def _missing(kind: str, name: str, known: Iterable[str], place: Place) -> Problem:
    near = nearest(name, tuple(known))
    return Problem(place, f"there is no {kind} {name!r}{f' ({near})' if near else ''}", "error")


def _problem(err: ConformanceError, path: Path) -> Problem:
    message = f"{err.message} ({err.hint})" if err.hint else err.message
    return Problem(err.place or Place(str(path)), message, "error")
