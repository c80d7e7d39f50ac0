"""Suites compiled per dialect and profile, once; shared by every exchange and thread."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from conformance import dialects
from conformance.core.errors import SpecError, UsageError
from conformance.core.reading import Reading
from conformance.dialects.neutral_knobs import neutral_knobs
from conformance.judging.result import StreamResult
from conformance.judging.rule_names import fits_rule, nearest_rule, rule_filter
from conformance.judging.run_rules import ADDED_RULES
from conformance.judging.suites import load_suites
from conformance.profiles.lookup import find
from conformance.profiles.profile import Profile, reading
from conformance.profiles.thin_evidence import thin_demand, thin_knobs
from conformance.rules.forms.compare import Compare
from conformance.rules.model import Rule, Suite
from conformance.rules.paths import MISSING
from conformance.rules.patterns import PatternError
from conformance.rules.reads import knobs_read
from conformance.rules.rule_set import RuleSet
from conformance.rules.verdicts import Level

# Nine digits: more would be no version, and integers of any length are slow to read.
_VERSION: Final = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}")

_MOST_CHANGED: Final = 256  # pairs of profiles


class BoundRules(Struct, frozen=True):
    """Rules for one profile: of one exchange, of a whole scenario, and those switched off."""

    profile: Profile
    rules: RuleSet
    scenario: RuleSet
    off: Mapping[str, str]  # rule -> the profile's reason
    reading: Reading  # how the profile's streams are read


# By dialect, name and file of the profile.
_BoundByProfile = dict[tuple[str, str, str], BoundRules]
_ALL_SHIPPED: Final[_BoundByProfile] = {}  # compiled once per process
_ChangedRules = dict[tuple[RuleSet, RuleSet], RuleSet]
_CHANGED_SHIPPED: Final[_ChangedRules] = {}  # of all shipped rules, as above


class Rulebook:
    """The rules of one run. `globs` narrow them by id, `as_of` to those of a version or older.

    Rules that a run adds stay, even if no glob matches them: without them a server that falls
    silent would look green. If a glob matches some of them, only those stay.
    `notes` are sentences about rules that were left out.
    """

    def __init__(
        self, suites: Sequence[Suite], globs: Sequence[str] = (), as_of: str | None = None
    ) -> None:
        self.suites = tuple(suites)
        selected = _select_rules(self.suites, globs)
        added = frozenset(filter(rule_filter(globs), ADDED_RULES))
        self._left_out = ADDED_RULES.keys() - added if added else frozenset()
        self.rules = selected if as_of is None else _rules_until(selected, as_of)
        self.comparing = tuple(
            (rule, rule.form) for rule in self.rules if isinstance(rule.form, Compare)
        )
        self.notes = _left_out_notes(len(selected) - len(self.rules), as_of)
        self._bound: _BoundByProfile = {}
        self._changed: _ChangedRules = {}
        self._profiles: dict[tuple[str, str, tuple[Path, ...]], Profile] = {}

    @classmethod
    def load(
        cls, suites: Sequence[str] = (), globs: Sequence[str] = (), as_of: str | None = None
    ) -> Rulebook:
        book = cls(load_suites(suites), globs, as_of)
        if not (suites or globs or as_of):
            book._bound, book._changed = _ALL_SHIPPED, _CHANGED_SHIPPED
        return book

    def narrowed(self, result: StreamResult) -> StreamResult:
        """The result without the added rules that the globs leave out, if they match some."""
        out = self._left_out
        if not out or out.isdisjoint(result.verdicts):
            return result
        return replace(
            result,
            verdicts={rule: v for rule, v in result.verdicts.items() if rule not in out},
            reasons={rule: why for rule, why in result.reasons.items() if rule not in out},
            findings=tuple(each for each in result.findings if each.rule not in out),
            changes=tuple(each for each in result.changes if each.rule not in out),
        )

    def profile(self, name: str, dialect: str, folders: tuple[Path, ...] = ()) -> Profile:
        """The profile of that name, read once for all recordings of the run."""
        key = (name, dialect, folders)
        if key not in self._profiles:
            self._profiles[key] = find(name, dialect, folders)
        return self._profiles[key]

    def bound(self, profile: Profile) -> BoundRules:
        """The rules for a profile's dialect, with its knobs and overrides."""
        key = (profile.dialect, profile.name, str(profile.file))
        found = self._bound.get(key)
        if found is not None and found.profile is profile:
            return found
        if found is None or found.profile != profile:  # its file may have changed meanwhile
            found = _bind_rules(self.rules, profile)
        else:  # the next exchange brings this value again: to compare equal ones takes long
            found = replace(found, profile=profile)
        self._bound[key] = found
        return found

    def changed(self, before: BoundRules, after: BoundRules) -> RuleSet:
        """Those of the rules `after` that may say something else than the same rules `before`."""
        key = before.rules, after.rules
        if key not in self._changed:
            if len(self._changed) >= _MOST_CHANGED:
                self._changed.clear()
            rules = _changed_rules(before, after)
            self._changed[key] = _compile_rules(rules, profile_values(after.profile))
        return self._changed[key]


def _changed_rules(before: BoundRules, after: BoundRules) -> list[Rule]:
    """Rules that a profile chose otherwise, or that read a knob which has another value there."""
    was, now = profile_values(before.profile), profile_values(after.profile)
    moved = {name for name in was | now if was.get(name, MISSING) != now.get(name, MISSING)}
    same = {id(each.rule) for each in before.rules.rules}
    rules = (each.rule for each in after.rules.rules)
    return [rule for rule in rules if id(rule) not in same or knobs_read(rule) & moved]


def _select_rules(suites: tuple[Suite, ...], globs: Sequence[str]) -> tuple[Rule, ...]:
    every = tuple(rule for suite in suites for rule in suite.rules)
    known = dict.fromkeys([*(rule.id for rule in every), *ADDED_RULES])
    for glob in globs:
        if glob not in known and not any(fits_rule(rule, glob) for rule in known):
            raise UsageError(f"no rule matches {glob!r}", hint=nearest_rule(glob, tuple(known)))
    fits = rule_filter(globs)
    return tuple(rule for rule in every if not globs or fits(rule.id))


def _rules_until(rules: tuple[Rule, ...], as_of: str) -> tuple[Rule, ...]:
    last = _parse_version(as_of)
    return tuple(rule for rule in rules if _parse_version(rule.since) <= last)


def _parse_version(text: str) -> tuple[int, ...]:
    if not _VERSION.fullmatch(text):
        raise UsageError(f"expected a version like 0.1.0, got {text!r}")
    return tuple(map(int, text.split(".")))


def _left_out_notes(number: int, as_of: str | None) -> tuple[str, ...]:
    rules = "1 rule is" if number == 1 else f"{number} rules are"
    return (f"{rules} newer than {as_of} and left out",) if number else ()


def _bind_rules(rules: Sequence[Rule], profile: Profile) -> BoundRules:
    off: dict[str, str] = {}
    chosen: list[Rule] = []
    thin = thin_knobs(profile)
    for rule in rules:
        if not rule.judges(profile.dialect):
            continue
        override = profile.overrides.get(rule.id)
        if override is not None and override.level == "off":
            off[rule.id] = override.because
        elif override is not None:
            chosen.append(replace(rule, level=Level(override.level)))
        elif why := thin_demand(rule, profile, thin):
            source = (*rule.source, {"advice": why})
            chosen.append(replace(rule, level=Level.SHOULD, source=source))
        else:
            chosen.append(rule)
    knobs = profile_values(profile)
    single = [rule for rule in chosen if rule.scope != "scenario"]
    several = [rule for rule in chosen if rule.scope == "scenario"]
    compiled = _compile_rules(single, knobs), _compile_rules(several, knobs)
    return BoundRules(profile, *compiled, off, reading(profile))


def profile_values(profile: Profile) -> dict[str, Any]:
    """What a rule may ask of a profile, by name: knobs, promises, and what its dialect is."""
    promises = {f"promises.{promise}": True for promise in profile.promises}
    dialect = dialects.get(profile.dialect)
    own = {"framing": dialect.framing, "standard_streams": dialect.agent is not None}
    return {**neutral_knobs(), **own, **profile.knobs, **promises}


def _compile_rules(rules: Sequence[Rule], knobs: Mapping[str, Any]) -> RuleSet:
    try:
        return RuleSet(rules, knobs)
    except PatternError:
        for rule in rules:
            _blame_rule(rule, knobs)
        raise


def _blame_rule(rule: Rule, knobs: Mapping[str, Any]) -> None:
    try:
        RuleSet([rule], knobs)
    except PatternError as err:
        raise SpecError(f"rule {rule.id}: {err}", place=rule.place) from err
