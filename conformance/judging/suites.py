"""The suites a check runs: the shipped ones and the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

from conformance import dialects
from conformance.core import shipped
from conformance.core.built_values import built_value
from conformance.core.errors import SpecError, UsageError
from conformance.core.events import Vocabulary
from conformance.dialects.marker_families import FILE_NAME
from conformance.rules.load import load_suite
from conformance.rules.model import Suite
from conformance.rules.node import nearest

ALL_SHIPPED: Final = "shipped"
"""The name of all suites that ship."""
NOT_SUITES = frozenset({"baselines", "profiles", "scenarios", "systems", FILE_NAME})


def dialect_vocabulary(dialect: str) -> Vocabulary:
    """The wire vocabulary of a dialect, by name."""
    return dialects.get(dialect).vocabulary


@cache
def shipped_suites() -> tuple[Suite, ...]:
    """Every suite that ships, in the order of their ids."""
    return tuple(_shipped_suite(path) for path in suite_files(shipped.specs()))


def _shipped_suite(path: Path) -> Suite:
    built: Suite | None = built_value("suite", path)
    return built or load_suite(path, dialect_vocabulary)


def suite_files(folder: Path) -> list[Path]:
    """Suite files below a folder of specs, sorted."""
    within = [path for path in folder.iterdir() if path.name not in NOT_SUITES]
    found = (path.rglob("*.yaml") if path.is_dir() else [path] for path in within)
    return sorted(path for path in chain.from_iterable(found) if path.name.endswith(".yaml"))


def load_suites(wanted: Sequence[str] = ()) -> tuple[Suite, ...]:
    """All shipped suites; with `wanted`, only those: ids of shipped suites, or files and folders.

    An id may name a group (`summary`), and `shipped` names all of them. Raises UsageError for what
    is neither.
    """
    if not wanted:
        return shipped_suites()
    found: dict[str, Suite] = {}
    for name in wanted:
        for suite in _suites_named(name):
            if suite.id in found and found[suite.id].file != suite.file:
                raise SpecError(f"suite {suite.id!r} is in {found[suite.id].file} and {suite.file}")
            found[suite.id] = suite
    return tuple(found.values())


def _suites_named(name: str) -> tuple[Suite, ...]:
    if name == ALL_SHIPPED:
        return shipped_suites()
    path = Path(name)
    if path.is_dir():
        return tuple(load_suite(each, dialect_vocabulary) for each in suite_files(path))
    if path.is_file() or path.suffix in (".yaml", ".yml"):
        return (load_suite(path, dialect_vocabulary),)
    chosen = tuple(s for s in shipped_suites() if s.id == name or s.id.startswith(f"{name}/"))
    if not chosen:
        ids = [suite.id for suite in shipped_suites()]
        raise UsageError(f"no suite {name!r}, neither shipped nor a file", hint=nearest(name, ids))
    return chosen
