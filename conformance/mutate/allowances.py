"""Mutants that are allowed to live, as data: by operator, base, profile or knobs, with a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from conformance.dialects import SUPPORTED
from conformance.mutate.stream import mutation_of
from conformance.profiles.profile import Profile
from conformance.rules import document
from conformance.rules.node import Node

_FILE: Final = Path(__file__).with_name("legal.yaml")
_KEYS: Final = frozenset({"operator", "base", "profile", "knobs", "reason", "missing"})


class Allowance(Struct, frozen=True):
    """Where mutants of an operator may live. `operator`, `base` and `profile` are globs.

    `knobs` maps a knob to the values under which they may. `missing` names the rule that would
    kill them and is not written yet: such an allowance is a known gap, not a legal stream.
    """

    operator: str
    reason: str
    base: str = "*"
    profile: str = "*"
    knobs: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    missing: str = ""

    def covers(self, operator: str, base: str, profile: Profile) -> bool:
        """Whether a mutant of this operator, base and profile may live."""
        return self.fits(operator, base) and self.allows(profile)

    def fits(self, operator: str, base: str) -> bool:
        return fnmatchcase(operator, self.operator) and fnmatchcase(base, self.base)

    def allows(self, profile: Profile) -> bool:
        known = all(profile.knobs.get(name) in values for name, values in self.knobs.items())
        return known and fnmatchcase(profile.name, self.profile)


def load_allowances() -> tuple[Allowance, ...]:
    """The allowances of all files, the common one first. Raises SpecError at a mistake."""
    own = {f"{name}/*": mutation_of(name).legal for name in SUPPORTED}
    files = {"*": _FILE, **{base: path for base, path in own.items() if path}}
    return tuple(each for base, path in files.items() for each in _read_allowances(path, base))


def _read_allowances(path: Path, base: str) -> Iterator[Allowance]:
    """The allowances of one file; those that name no base are of this one."""
    root = document.load(path)
    root.mapping(known={"allowances"})
    for node in root.required("allowances").sequence():
        yield _read_allowance(node, base)


def _read_allowance(node: Node, base: str) -> Allowance:
    node.mapping(known=_KEYS)
    knobs = node.get("knobs")
    values = {k: _value_list(v.plain()) for k, v in knobs.mapping().items()} if knobs else {}
    texts = {k: found.string() for k in _KEYS - {"knobs"} if (found := node.get(k))}
    for key in ("operator", "reason"):
        node.required(key)
    return Allowance(**{"base": base, **texts}, knobs=values)


def _value_list(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)
