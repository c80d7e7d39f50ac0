"""Mutants that are allowed to live, as data, with a reason.

They are known by operator, and by what they were made of: its name, profile, knobs and end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from conformance.core.events import Exchange
from conformance.dialects import SUPPORTED, get
from conformance.editing.operator import Mutant
from conformance.editing.stream import Stream
from conformance.mutate.stream import legal_file
from conformance.profiles.profile import Profile, reading
from conformance.rules import document
from conformance.rules.node import Node

_FILE: Final = Path(__file__).with_name("legal.yaml")
_LISTS: Final = frozenset({"knobs", "ended"})
_KEYS: Final = frozenset({"operator", "base", "profile", "reason", "missing"}) | _LISTS


class Allowance(Struct, frozen=True):
    """Where mutants of an operator may live. `operator`, `base` and `profile` are globs.

    `knobs` maps a knob to the values under which they may. `ended` are words of `ends_of`: base and
    mutant have to end in one of these ways. `missing` names the rule that would kill them and is
    not written yet: such an allowance is a known gap, not a legal stream.
    """

    operator: str
    reason: str
    base: str = "*"
    profile: str = "*"
    knobs: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    ended: frozenset[str] = frozenset()
    missing: str = ""

    def covers(self, mutant: Mutant, base: str, profile: Profile, stream: Stream) -> bool:
        """Whether a mutant of this stream of a base may live."""
        if not self.fits(mutant.operator, base) or not self.allows(profile):
            return False
        ends = partial(ends_of, dialect=stream.dialect, profile=profile)
        # What the edit took away discharges nothing, and what it added is no excuse.
        return not self.ended or bool(self.ended & ends(stream.exchange) & ends(mutant.exchange))

    def fits(self, operator: str, base: str) -> bool:
        return fnmatchcase(operator, self.operator) and fnmatchcase(base, self.base)

    def allows(self, profile: Profile) -> bool:
        known = all(profile.knobs.get(name) in values for name, values in self.knobs.items())
        return known and fnmatchcase(profile.name, self.profile)


def ends_of(exchange: Exchange, dialect: str, profile: Profile) -> frozenset[str]:
    """How an answer ends: reasons of its finishes, `error`, `cut` where it breaks off."""
    traced = get(dialect).trace(exchange, reading(profile))
    events = [each for frame in traced for each in frame.events if each.layer == "semantic"]
    types = {each.type for each in events}
    reasons = {str(each.data.get("reason")) for each in events if each.type == "finish"}
    is_cut = exchange.end != "eof" or types.isdisjoint({"finish", "done", "error"})
    return frozenset(reasons | types & {"error", "cut"} | ({"cut"} if is_cut else set()))


def load_allowances() -> tuple[Allowance, ...]:
    """The allowances of all files, the common one first. Raises SpecError at a mistake."""
    own = {f"{name}/*": legal_file(name) for name in SUPPORTED}
    files = {"*": _FILE, **{base: path for base, path in own.items() if path.exists()}}
    return tuple(each for base, path in files.items() for each in _read_allowances(path, base))


def _read_allowances(path: Path, base: str) -> Iterator[Allowance]:
    """The allowances of one file; those that name no base are of this one."""
    root = document.load(path)
    root.mapping(known={"allowances"})
    for node in root.required("allowances").sequence():
        yield _read_allowance(node, base)


def _read_allowance(node: Node, base: str) -> Allowance:
    node.mapping(known=_KEYS)
    knobs, ended = node.get("knobs"), node.get("ended")
    values = {k: _value_list(v.plain()) for k, v in knobs.mapping().items()} if knobs else {}
    ends = frozenset(each.string() for each in ended.sequence()) if ended else frozenset[str]()
    texts = {k: found.string() for k in _KEYS - _LISTS if (found := node.get(k))}
    for key in ("operator", "reason"):
        node.required(key)
    return Allowance(**{"base": base, **texts}, knobs=values, ended=ends)


def _value_list(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)
