"""Demands of a profile that few recordings back: a MUST of them is a SHOULD for that system.

Rule 1: what backs a knob is the first count in its `seen` ("2 of 2 recordings"). Where the first
        clause counts nothing, documents back it.
Rule 2: a rule rests on a knob that it looks at, where the profile sets that to another value than
        strict: by strict's own value all systems are judged.
Rule 3: what breaks a named client, or what 30 recordings hold without an exception, is a MUST
        whatever the system.
"""

from __future__ import annotations

from typing import Final

from conformance.profiles.knobs import spell_value
from conformance.profiles.profile import Profile
from conformance.rules.authority import carries_by_itself, first_tally
from conformance.rules.model import Rule
from conformance.rules.reads import knobs_read
from conformance.rules.verdicts import Level

ENOUGH: Final = 8  # recordings of a system that back a MUST for it


def thin_knobs(profile: Profile) -> frozenset[str]:
    """Knobs that few recordings back (rules 1 and 2); what a client promises is in documents."""
    return frozenset(
        name
        for name, reason in profile.reasons.items()
        if (knob := profile.declared.get(name)) is not None
        and knob.side == "server"
        and profile.knobs[name] != knob.strict
        and (tally := first_tally(reason.seen)) is not None
        and tally < ENOUGH
    )


def thin_demand(rule: Rule, profile: Profile, thin: frozenset[str]) -> str:
    """Why a MUST is a SHOULD for this system; empty where it is not."""
    if not thin or rule.level is not Level.MUST or carries_by_itself(rule):
        return ""
    name = min(knobs_read(rule) & thin, default="")
    if not name:
        return ""
    sets = f"{name} {spell_value(profile.knobs[name])[:40]}"
    tally = profile.reasons[name].seen
    return (
        f"few recordings back it for {profile.name} ({sets}: {tally}): a SHOULD there, not a MUST"
    )
