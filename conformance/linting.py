"""Files of rules and profiles, linted: what is broken, and what is allowed but wrong.

With what the linters of other YAML files share: documents of a kind, known rules, faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from conformance import __version__
from conformance.core import shipped
from conformance.core.configuration import CONFIGURATION
from conformance.core.errors import ConformanceError, Place, SpecError, UsageError
from conformance.dialects.marker_families import read_families
from conformance.dialects.neutral_knobs import neutral_knobs
from conformance.judging.run_rules import ADDED_RULES
from conformance.judging.suites import dialect_vocabulary, shipped_suites
from conformance.profiles.load import limits, load_profile
from conformance.profiles.lookup import available
from conformance.profiles.profile import Profile
from conformance.recordings.linting import suites_in
from conformance.rules import document
from conformance.rules.lint import Known, Problem, lint_suite, lint_together
from conformance.rules.load import read_suite
from conformance.rules.model import Rule, Suite
from conformance.rules.node import Node, nearest

# Scenarios, baselines (`entries`) and systems are linted where they are read, a floor above.
_KINDS: Final = ("suite", "profile", "scenario", "entries", "system", "markers")
_SUFFIXES: Final = (".yaml", ".yml")


class _SpecFiles(Struct):
    """What the files hold, as far as they can be read."""

    suites: list[tuple[Suite, Node]] = field(default_factory=list)
    profiles: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def lint_paths(paths: Sequence[Path]) -> list[Problem]:
    """Problems of all suites and profiles in files and below folders, by place.

    Raises UsageError for a path that is not there and for a folder without YAML files.
    """
    found = _SpecFiles()
    for path in paths:
        for file in _spec_files(path):
            _read_file(file, found)
    known = Known(dialect_vocabulary, _declared_knobs(), __version__, _ships)
    for suite, root in found.suites:
        found.problems += lint_suite(suite, root, known)
    found.problems += lint_together(found.suites)
    rules = {rule.id: rule for suite in _every_suite(found) for rule in suite.rules}
    rules |= ADDED_RULES
    for path in found.profiles:
        found.problems += _lint_profile(path, rules)
    return sorted(found.problems, key=_sort_key)


def mistakes_in(path: Path) -> list[Problem]:
    """Errors in a suite or profile that loads, and so would look as if it had judged something.

    One that does not load raises where it is used.
    """
    found = _SpecFiles()
    for file in _spec_files(path):
        _read_file(file, found)
    try:
        for profile in found.profiles:
            load_profile(profile)
    except ConformanceError:
        return []
    wrong = [] if found.problems else lint_paths([path])
    return [each for each in wrong if each.severity == "error"]


def _ships(file: str) -> bool:
    return Path(file).resolve().is_relative_to(shipped.specs().resolve())


def _sort_key(problem: Problem) -> tuple[str, int, int]:
    return problem.place.file, problem.place.line or 0, problem.place.column or 0


def _spec_files(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.suffix in _SUFFIXES and p.is_file())
        if not files:
            raise UsageError("holds no YAML file", place=Place(str(path)))
        return files
    if not path.exists():
        raise UsageError("no such file or folder", place=Place(str(path)))
    return [path]


def _read_file(path: Path, found: _SpecFiles) -> None:
    if path.name == CONFIGURATION:
        return  # linted where it is read, a floor above
    try:
        root = document.load(path)
        kind = next((kind for kind in _KINDS if kind in root.mapping()), None)
        if kind == "suite":
            found.suites.append((read_suite(root, dialect_vocabulary), root))
        elif kind == "profile":
            found.profiles.append(path)
        elif kind == "markers":
            read_families(root)
        elif kind is None:
            raise root.error(
                "neither a suite, a profile, a scenario, a system, a baseline nor markers",
                hint=f"it has none of the keys {', '.join(map(repr, _KINDS))}",
            )  # reported like any other mistake
    except ConformanceError as err:
        found.problems.append(error_problem(err, Place(str(path))))


def _declared_knobs() -> Mapping[str, Mapping[str, tuple[Any, ...]]]:
    """Per dialect the allowed values of every knob, from the shipped strict profiles."""
    strict = [load_profile(path) for name, _, path in available() if name == "strict"]
    defaults: Mapping[str, tuple[Any, ...]] = dict.fromkeys(neutral_knobs(), ())
    return {
        p.dialect: {**defaults, **{name: knob.values for name, knob in p.declared.items()}}
        for p in strict
    }


def _every_suite(found: _SpecFiles) -> Iterator[Suite]:
    try:
        yield from shipped_suites()
    except SpecError:
        # Its own file shows the mistake where the shipped rules are linted.
        if not any(suite.file.startswith(str(shipped.specs())) for suite, _ in found.suites):
            raise
    yield from (suite for suite, _ in found.suites)


def _lint_profile(path: Path, rules: Mapping[str, Rule]) -> Iterator[Problem]:
    place = Place(str(path))
    try:
        profile = load_profile(path)
        wrong = limits(path)
    except ConformanceError as err:
        yield error_problem(err, place)
        return
    yield from (error_problem(err, place) for err in wrong)
    yield from _lint_overrides(profile, rules)
    yield from _lint_promises(path, rules)


def _lint_overrides(profile: Profile, rules: Mapping[str, Rule]) -> Iterator[Problem]:
    for name, override in profile.overrides.items():
        if override.place.file != profile.file:
            continue  # inherited: the file that has it reports it
        rule = rules.get(name)
        if rule is None:
            yield unknown_name("rule", name, rules, override.place)
        elif not rule.judges(profile.dialect):
            message = f"rule {name!r} never judges {profile.dialect}"
            yield Problem(override.place, message, "error")


def _lint_promises(path: Path, rules: Mapping[str, Rule]) -> Iterator[Problem]:
    """A promise is known where a rule asks for it, or a shipped profile makes it."""
    node = document.load(path).get("promises")
    items = node.sequence() if node else ()
    required = (name for rule in rules.values() for name, _ in rule.applies.profile)
    known = {name.removeprefix("promises.") for name in required if name.startswith("promises.")}
    if all(item.string() in known for item in items):
        return
    known.update(name for *_, file in available() for name in load_profile(file).promises)
    for item in items:
        if item.string() not in known:
            yield unknown_name("promise", item.string(), known, item.place)


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
