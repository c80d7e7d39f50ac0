"""What a corpus of recordings says of the profiles that ship: habits to add, claims to drop.

Rule 1: a stream counts for the profile that was named, or that it shows for certain; one that only
        looks like a system's counts for none.
Rule 2: a habit is a value that all of at least ENOUGH streams show and the profile does not permit.
Rule 3: a claim is a knob that the profile sets; it is contradicted where all of at least ENOUGH
        streams show another value.
Rule 4: a habit that would silence a rule on whose breach a named client breaks says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, field

from conformance.identify import Identity
from conformance.identify.draft import differing
from conformance.judging.rulebook import Rulebook, profile_values
from conformance.profiles.knobs import spell_value
from conformance.profiles.lookup import find
from conformance.profiles.profile import Profile
from conformance.profiles.thin_evidence import ENOUGH
from conformance.rules.applies import profile_excludes


class IdentifiedStream(Struct, frozen=True):
    """One stream of a corpus: what it showed, and the day of its recording where that is known."""

    identity: Identity
    day: str = ""


class KnobNews(Struct, frozen=True):
    """A knob that a profile says otherwise than the streams do.

    `claimed` is what ships, with its evidence in `seen` where the profile itself sets it. `rules`
    would be silent with `shown`, though a named client breaks on their breach.
    """

    knob: str
    shown: Any
    streams: int
    claimed: Any
    seen: str = ""
    rules: tuple[str, ...] = ()


class ProfileNews(Struct):
    """What the streams of one system say of its profile."""

    profile: Profile
    streams: int = 0
    days: list[str] = field(default_factory=list)
    shown: dict[str, Counter[str]] = field(default_factory=dict)
    values: dict[tuple[str, str], Any] = field(default_factory=dict)

    def take(self, stream: IdentifiedStream) -> None:
        self.streams += 1
        self.days += [stream.day] if stream.day else []
        for knob, value in stream.identity.knobs.items():
            spelled = spell_value(value)
            self.shown.setdefault(knob, Counter())[spelled] += 1
            self.values[knob, spelled] = value

    def news(self, rulebook: Rulebook) -> Iterator[KnobNews]:
        """Habits that are not permitted (rule 2), then claims that nothing shows (rule 3)."""
        held = {knob: value for knob, value, _ in self._habits()}
        shown = Identity(self.profile.dialect, None, "none", (), {}, held, ())
        missing = differing(shown, self.profile)
        for knob, value, streams in self._habits():
            claimed = self.profile.knobs.get(knob)
            reason = self.profile.reasons.get(knob)
            if knob in missing:
                rules = tuple(_silenced_rules(self.profile, knob, value, rulebook))
                seen = reason.seen if reason else ""
                yield KnobNews(knob, value, streams, claimed, seen, rules)
            elif reason is not None and claimed != value:
                yield KnobNews(knob, value, streams, claimed, reason.seen)

    def _habits(self) -> Iterator[tuple[str, Any, int]]:
        for knob, counts in sorted(self.shown.items()):
            if len(counts) == 1 and counts.total() >= ENOUGH and knob in self.profile.declared:
                (spelled,) = counts
                yield knob, self.values[knob, spelled], counts.total()


def profile_news(
    streams: Iterable[IdentifiedStream], named: str | None = None
) -> list[ProfileNews]:
    """The streams of each system, the most first; unknown senders are left out (rule 1)."""
    found: dict[tuple[str, str], ProfileNews] = {}
    for stream in streams:
        identity = stream.identity
        name = named or (identity.profile if identity.certainty == "certain" else None)
        if name is not None:
            key = (identity.dialect, name)
            if key not in found:
                found[key] = ProfileNews(find(name, identity.dialect))
            found[key].take(stream)
    return sorted(found.values(), key=lambda each: (-each.streams, each.profile.name))


def _silenced_rules(profile: Profile, knob: str, value: Any, rulebook: Rulebook) -> Iterator[str]:
    """Rules that speak now, would not with that value, and keep a named client whole."""
    now = profile_values(profile)
    for rule in rulebook.rules:
        if not rule.judges(profile.dialect) or rule.id in profile.overrides:
            continue
        breaks = any("breaks" in source for source in rule.source)
        speaks = breaks and not profile_excludes(rule, now)
        if speaks and profile_excludes(rule, {**now, knob: value}):
            yield rule.id
