"""Where systems contradict each other, axis by axis: what expresses it, and what fails where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.core.errors import Place
from conformance.linting import unknown_name
from conformance.profiles.lookup import available
from conformance.rules import document
from conformance.rules.lint import Problem
from conformance.rules.node import Node
from conformance.systems import find_system, system_names
from conformance.systems.linting import known_names

_KEYS: Final = frozenset({"contradictions", "axes"})
_AXIS_KEYS: Final = frozenset({"axis", "does", "rules", "knobs", "reason", "fails"})

"""A preset, and the profile that it is judged by."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One question to which systems give different answers.

    `does` holds each system's answer, `rules` and `knobs` what expresses them. `fails` is by
    profile and preset which of its rules must fail; `reason` says why none does.
    """

    title: str
    does: Mapping[str, str]
    rules: tuple[str, ...]
    knobs: tuple[str, ...]
    reason: str
    fails: Mapping[str, Mapping[str, tuple[str, ...]]]
    place: Place


@dataclass(frozen=True, slots=True)
class Contradictions:
    """All axes of a file."""

    title: str
    axes: tuple[Axis, ...]
    file: str

    def failing(self, preset: str, profile: str) -> frozenset[str]:
        """The rules that a preset must break under a profile; none under its own."""
        found = (axis.fails.get(profile, {}).get(preset, ()) for axis in self.axes)
        return frozenset(rule for rules in found for rule in rules)


def load_contradictions(path: Path | str) -> Contradictions:
    """The axes in a file. Raises SpecError at the first thing that is wrong."""
    root = document.load(path)
    root.mapping(_KEYS)
    axes = tuple(_axis(node) for node in root.required("axes").sequence())
    return Contradictions(root.required("contradictions").string(), axes, str(path))


def unknown_names(found: Contradictions) -> Iterator[Problem]:
    """Names of nothing in the axes."""
    systems = [find_system(name) for name in system_names()]
    presets = [preset for system in systems for preset in system.presets]
    strict = [document.load(path) for name, _, path in available() if name == "strict"]
    known: Mapping[str, Iterable[str]] = {
        "system": [system.name for system in systems],
        "rule": known_names([]).rules,
        "knob": [knob for root in strict for knob in root.required("knobs").mapping()],
        "profile": [preset.profile for preset in presets],
        "preset": [preset.name for preset in presets],
    }
    for axis in found.axes:
        used: Mapping[str, Iterable[str]] = {
            "system": axis.does,
            "rule": axis.rules,
            "knob": axis.knobs,
            "profile": axis.fails,
            "preset": [name for each in axis.fails.values() for name in each],
        }
        for kind, names in used.items():
            for name in set(names) - set(known[kind]):
                yield unknown_name(kind, name, known[kind], axis.place)


def _axis(node: Node) -> Axis:
    keys = node.mapping(_AXIS_KEYS)
    if "fails" not in keys and "reason" not in keys:
        raise node.error("expected what fails, or the reason why nothing does")
    rules = _strings(keys.get("rules"))
    return Axis(
        title=node.required("axis").string(),
        does={name: each.string() for name, each in node.required("does").mapping().items()},
        rules=rules,
        knobs=_strings(keys.get("knobs")),
        reason=keys["reason"].string() if "reason" in keys else "",
        fails=_fails(keys.get("fails"), rules),
        place=node.place,
    )


def _fails(node: Node | None, rules: tuple[str, ...]) -> dict[str, dict[str, tuple[str, ...]]]:
    profiles = node.mapping() if node else {}
    return {
        profile: {preset: _own(each, rules) for preset, each in presets.mapping().items()}
        for profile, presets in profiles.items()
    }


def _own(node: Node, rules: tuple[str, ...]) -> tuple[str, ...]:
    for each in node.sequence():
        each.one_of(rules)
    return _strings(node)


def _strings(node: Node | None) -> tuple[str, ...]:
    return tuple(each.string() for each in node.sequence()) if node else ()
