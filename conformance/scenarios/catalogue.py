"""Which scenarios a run takes: the shipped ones, or the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from conformance.core.errors import SpecError, UsageError
from conformance.core.shipped import specs
from conformance.rules.node import nearest
from conformance.scenarios.load import load_scenario
from conformance.scenarios.model import Scenario


@cache
def shipped_scenarios() -> tuple[Scenario, ...]:
    """Every scenario that ships, by name."""
    return _load_below(specs() / "scenarios")


def load_scenarios(wanted: Sequence[str] = ()) -> tuple[Scenario, ...]:
    """All shipped scenarios; with `wanted`, only those: names, files and folders.

    Raises UsageError for what is none of them, SpecError for a broken file or a name met twice.
    """
    if not wanted:
        return shipped_scenarios()
    found: dict[str, Scenario] = {}
    for scenario in (each for name in wanted for each in _load_named(name)):
        if scenario.name in found and found[scenario.name].file != scenario.file:
            both = f"{found[scenario.name].file} and {scenario.file}"
            raise SpecError(f"scenario {scenario.name!r} is in {both}")
        found[scenario.name] = scenario
    return tuple(found.values())


def _load_named(name: str) -> tuple[Scenario, ...]:
    path = Path(name)
    if path.is_dir():
        return _load_below(path)
    if path.suffix in (".yaml", ".yml"):
        return (load_scenario(path),)
    chosen = tuple(each for each in shipped_scenarios() if each.name == name)
    if not chosen:
        names = [each.name for each in shipped_scenarios()]
        hint = nearest(name, names) or f"there are: {', '.join(names)}"
        raise UsageError(f"no scenario {name!r}, neither shipped nor a file", hint=hint)
    return chosen


def _load_below(folder: Path) -> tuple[Scenario, ...]:
    found = tuple(load_scenario(path) for path in sorted(folder.rglob("*.y*ml")))
    names = [each.name for each in found]
    twice = next((each for each in found if names.count(each.name) > 1), None)
    if twice is not None:
        raise SpecError(f"scenario {twice.name!r} is there twice below {folder}")
    return found
