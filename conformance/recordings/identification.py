"""Recorded exchanges, identified: by whose signs, what they did, and what strict says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from conformance import dialects
from conformance.cassette import Recording
from conformance.core.events import Exchange
from conformance.dialects.base import Dialect, Reading
from conformance.identify import Identity, Witness
from conformance.judging.fast.running import check_wire
from conformance.judging.rulebook import Rulebook
from conformance.judging.view import JudgeSetting
from conformance.profiles.lookup import find
from conformance.profiles.profile import Profile
from conformance.recordings.sender import answer_events, known_signs
from conformance.rules.lint_knobs import knobs_read
from conformance.rules.model import Rule
from conformance.rules.patterns import NO_REQUEST, compile_value, same
from conformance.rules.verdicts import Level, Verdict

_UNREAD: Final = Reading()
_HOW_TO_READ: Final = frozenset({"markers", "think_opened_by"})


class StrictDeviation(Struct, frozen=True):
    """A rule that fails by the strict profile, and the knob that would allow it, if any does."""

    rule: str
    level: Level
    says: str
    knob: str | None
    value: Any


class ExchangeIdentification(Struct, frozen=True):
    """One exchange of a file: who sent it, and where it leaves the strict profile."""

    file: str
    exchange: int
    identity: Identity
    strict: Profile
    deviations: tuple[StrictDeviation, ...]


def identify_exchange(
    recording: Recording, exchange: Exchange, dialect: Dialect, rulebook: Rulebook
) -> ExchangeIdentification:
    """Everything that one exchange shows of its sender."""
    strict = find("strict", dialect.name)
    identity = identity_of(recording, exchange, dialect)
    failed = failed_rules(recording, exchange, strict, rulebook)
    found = tuple(_deviation_of(rule, identity.knobs, strict) for rule in failed)
    return ExchangeIdentification(str(recording.path), exchange.number, identity, strict, found)


def identity_of(recording: Recording, exchange: Exchange, dialect: Dialect) -> Identity:
    """Who sent one exchange, and which knobs of its dialect it shows."""
    identity = _witness_identity(recording, exchange, dialect, _UNREAD)
    reading = _reading_of(identity)
    if reading == _UNREAD:
        return identity
    # Thinking that was found where no dialect looks for it is looked at once more, as such.
    again = _witness_identity(recording, exchange, dialect, reading)
    knobs = {**again.knobs, **{k: v for k, v in identity.knobs.items() if k in _HOW_TO_READ}}
    return Identity(
        again.dialect,
        again.profile,
        again.certainty,
        again.signs,
        again.rivals,
        knobs,
        again.private,
    )


def _reading_of(identity: Identity) -> Reading:
    return Reading(
        markers=tuple((pair[0], pair[1]) for pair in identity.knobs.get("markers", ())),
        opened_by_prompt=identity.knobs.get("think_opened_by") == "prompt",
        fields={"thinking": identity.private} if identity.private else {},
    )


def _witness_identity(
    recording: Recording, exchange: Exchange, dialect: Dialect, reading: Reading
) -> Identity:
    is_message = exchange.response is not None and exchange.response.is_upgrade
    framed = recording.header.fidelity != "events" and not is_message
    witness = Witness(dialect.name, known_signs(dialect.name, ()), framed=framed)
    for event in answer_events(exchange, dialect, reading):
        witness.see(event)
    return witness.identity()


def failed_rules(
    recording: Recording,
    exchange: Exchange,
    profile: Profile,
    rulebook: Rulebook,
    *,
    unlike: Profile | None = None,
) -> list[Rule]:
    """Rules that the bytes of an exchange break; with `unlike` of those that say otherwise there.

    Where `unlike` also reads the bytes otherwise, any rule may.
    """
    bound = rulebook.bound(profile)
    if unlike is not None and (other := rulebook.bound(unlike)).reading == bound.reading:
        bound = replace(bound, rules=rulebook.changed(other, bound))
    if not bound.rules.rules:
        return []
    dialect, fidelity = dialects.get(profile.dialect), recording.header.fidelity
    setting = JudgeSetting(dialect, profile, bound, fidelity=fidelity)
    verdicts = check_wire(setting, exchange, exchange.chunks, exchange.end).result.verdicts
    return [rule for rule in rulebook.rules if verdicts.get(rule.id) is Verdict.FAIL]


def _deviation_of(rule: Rule, shown: Mapping[str, Any], strict: Profile) -> StrictDeviation:
    knob, value = next(_allowing_knobs(rule, shown, strict), (None, None))
    return StrictDeviation(rule.id, rule.level, rule.says, knob, value)


def _allowing_knobs(
    rule: Rule, shown: Mapping[str, Any], strict: Profile
) -> Iterator[tuple[str, Any]]:
    """Knobs with a value under which the rule is silent; what was seen comes before what may be."""
    conditions = [(k, compile_value(p, {})) for k, p in rule.applies.profile if k in strict.knobs]
    for knob, speaks in conditions:
        if knob in shown and not speaks(shown[knob], strict.knobs, NO_REQUEST):
            yield knob, shown[knob]
    read = knobs_read(rule)
    if "text_markers" in read and "markers" in shown:
        yield "markers", shown["markers"]
    for knob in sorted(read & shown.keys()):
        if not same(shown[knob], strict.knobs[knob]):
            yield knob, shown[knob]
    for knob, speaks in conditions:
        values = strict.declared[knob].values
        yield from ((knob, v) for v in values if not speaks(v, strict.knobs, NO_REQUEST))
