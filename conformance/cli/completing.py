"""Shell completion for the values of options; everything is loaded on demand."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from conformance.core.errors import ConformanceError


def complete_dialect(incomplete: str) -> list[str]:
    return _names_beginning(incomplete, _taken_from("conformance.dialects", "SUPPORTED"))


def complete_profile(incomplete: str) -> list[str]:
    available = _taken_from("conformance.profiles.lookup", "available")
    return _names_beginning(incomplete, (name for name, _, _ in available(())))


def complete_suite(incomplete: str) -> list[str]:
    shipped = _taken_from("conformance.judging.suites", "ALL_SHIPPED")
    return _names_beginning(incomplete, (shipped, *(suite.id for suite in _suite_names())))


def complete_target(incomplete: str) -> list[str]:
    """Targets of the project file; a mistake in it is for who runs a verb."""
    try:
        project = _taken_from("conformance.runs.project", "read_project")()
    except ConformanceError:
        return []
    return _names_beginning(incomplete, project.targets)


def complete_rule(incomplete: str) -> list[str]:
    added = _taken_from("conformance.judging.run_rules", "ADDED_RULES")
    known = [*(rule.id for suite in _suite_names() for rule in suite.rules), *added]
    # Their last parts are names of theirs, too.
    return _names_beginning(incomplete, [*known, *(rule.rpartition("/")[2] for rule in known)])


def complete_scenario(incomplete: str) -> list[str]:
    scenarios = _taken_from("conformance.scenarios", "shipped_scenarios")()
    return _names_beginning(incomplete, (each.name for each in scenarios))


def _suite_names() -> Any:
    return _taken_from("conformance.judging.suites", "load_suites")(())


def _taken_from(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def _names_beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if name.startswith(incomplete)})
