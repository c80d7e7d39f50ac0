"""Deviations that a profile permitted: faults for the strict profile that the streams really have.

They are not findings under the profile, but a reader should not have to read the profile to learn
of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final

from msgspec import Struct, field

from conformance.cassette import Recording
from conformance.core.errors import UsageError
from conformance.core.events import Exchange
from conformance.evidence.expectations import is_played
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.recordings.identification import failed_rules
from conformance.report.silences import Silence, rule_silences
from conformance.report.wording import count
from conformance.rules.verdicts import Verdict

_STRICT: Final = "strict"
_SHOWN: Final = 3


class Permission(Struct):
    """A knob or an override that made a difference: in how many streams, and for which rules."""

    silence: Silence
    streams: int = 0
    rules: set[str] = field(default_factory=set)

    def line(self) -> str:
        silence = self.silence
        rules = sorted(self.rules)
        more = f" and {len(rules) - _SHOWN} more" if rules[_SHOWN:] else ""
        head = f"permitted by profile {silence.profile} ({silence.dialect}): {silence.sets}"
        met = f"met in {count(self.streams, 'stream')}; the profile has it from {silence.seen}"
        return f"{head}; {met}; {silence.because} Strict fails {', '.join(rules[:_SHOWN])}{more}"


def permission_lines(
    checked: Iterable[tuple[Recording, Sequence[StreamResult]]], rulebook: Rulebook
) -> Iterator[str]:
    """A line for each way that a profile permitted, over recordings and what came of them."""
    found: dict[Silence, Permission] = {}
    for recording, results in checked:
        exchanges = {each.number: each for each in recording.exchanges}
        for result in results:
            exchange = exchanges[result.exchange]
            if result.view == "wire" and not is_played(recording.header, exchange):
                excused = _excused_rules(recording, exchange, result, rulebook)
                for silence, rules in excused.items():
                    permission = found.setdefault(silence, Permission(silence))
                    permission.streams += 1
                    permission.rules |= rules
    for silence in sorted(found, key=attrgetter("dialect", "profile", "sets")):
        yield found[silence].line()


def _excused_rules(
    recording: Recording, exchange: Exchange, result: StreamResult, rulebook: Rulebook
) -> Mapping[Silence, set[str]]:
    if result.profile == _STRICT:
        return {}
    try:
        profile = rulebook.profile(result.profile, result.dialect)
    except UsageError:  # a file of the user's own speaks for itself
        return {}
    if not (profile.reasons or profile.overrides):
        return {}
    found: dict[Silence, set[str]] = {}
    strict = rulebook.profile(_STRICT, result.dialect)
    for rule in failed_rules(recording, exchange, strict, rulebook, unlike=profile):
        if result.verdicts.get(rule.id) is not Verdict.FAIL:
            for silence in rule_silences(rule, [profile]):
                found.setdefault(silence, set()).add(rule.id)
    return found
