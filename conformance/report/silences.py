"""Which profiles change a rule: a knob that its `applies` or its form reads, or an override.

A rule applies unless a profile has a reason why it cannot hold there; reports show the profile's
reason and evidence with the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from conformance.profiles.knobs import spell_value
from conformance.profiles.profile import Profile
from conformance.profiles.thin_evidence import thin_demand, thin_knobs
from conformance.rules.lint_knobs import knobs_read
from conformance.rules.model import Rule
from conformance.rules.paths import MISSING
from conformance.rules.patterns import NO_REQUEST, compile_value
from conformance.rules.verdicts import Level


def knob_conditions(rule: Rule) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The knobs that the rule reads, with the values under which it applies, if it names any.

    Without values it judges by any setting of the knob.
    """
    for path, pattern in rule.applies.profile:
        values = pattern if isinstance(pattern, list | tuple) else [pattern]
        yield path, tuple(map(spell_value, values))
    yield from ((knob, ()) for knob in sorted(knobs_read(rule)))


class Silence(Struct, frozen=True):
    """One profile under which the rule is silent, milder, or judges by another value."""

    profile: str
    dialect: str
    sets: str
    because: str
    seen: str


def rule_silences(rule: Rule, profiles: Iterable[Profile]) -> tuple[Silence, ...]:
    """Every profile of the rule's dialect that changes whether, how loudly or by what it speaks."""
    return tuple(
        silence
        for profile in profiles
        if rule.judges(profile.dialect)
        for silence in _profile_silences(rule, profile)
    )


def _profile_silences(rule: Rule, profile: Profile) -> Iterator[Silence]:
    promised = {f"promises.{promise}": True for promise in profile.promises}
    facts: Mapping[str, Any] = {**profile.knobs, **promised}
    speaks = True
    for path, pattern in rule.applies.profile:
        value = facts.get(path, MISSING)
        # What a profile merely inherits from strict is reported once, by `applies`.
        if compile_value(pattern, {})(value, facts, NO_REQUEST):
            continue
        speaks = False
        if path in profile.reasons:
            yield _knob_silence(profile, path, value)
    for knob in sorted(knobs_read(rule) & profile.reasons.keys()):
        yield _knob_silence(profile, knob, facts[knob])
    if speaks and (why := thin_demand(rule, profile, thin_knobs(profile))):
        yield Silence(profile.name, profile.dialect, f"level: {Level.SHOULD}", why, "")
    override = profile.overrides.get(rule.id)
    if override is not None:
        sets = f"level: {override.level}"
        yield Silence(profile.name, profile.dialect, sets, override.because, override.seen)


def _knob_silence(profile: Profile, knob: str, value: Any) -> Silence:
    reason = profile.reasons.get(knob)
    because, seen = (reason.because, reason.seen) if reason else ("", "")
    return Silence(profile.name, profile.dialect, f"{knob}: {spell_value(value)}", because, seen)
