"""A recording without its secrets that says which rules cannot judge it any more.

A stand-in has the length and the alphabet of what it replaces, so most rules judge a redacted
recording as they judged the bytes that came. Where one does not, the recording names it: the rule
is untestable from then on, neither kept nor broken.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.cassette import Cassette, Redaction, Redactor, redact
from conformance.cassette.connections import carried_exchanges, split_connections
from conformance.core.errors import ConformanceError
from conformance.core.events import Exchange
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_trusted
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory
from conformance.recordings.profile_variants import (
    narrow_rulebook,
    profile_variants,
    shifting_rules,
)
from conformance.recordings.unchanged import UnchangedExchanges

EVERY_RULE: Final = ("*",)
# So much is judged twice without a noticeable wait; of a longer answer every rule is given up.
_LONGEST: Final = 4 * 1024 * 1024
_HARMLESS: Final = ("header", "query", "userinfo")
_NOWHERE: Final = Path("evidence.cassette.jsonl")

_STRICT: Final = "strict"

_Judged = Mapping[tuple[int, str], Mapping[str, object]]
_By = tuple[int, str, str]  # number of an exchange, dialect, name of a profile


def redact_evidence(
    evidence: Cassette, redactor: Redactor | None = None, rulebook: Rulebook | None = None
) -> Cassette:
    """What may be kept of a recording; each exchange names the rules that judge it otherwise now.

    `rulebook` has the rules of the user's own, besides those that ship. Raises CassetteError where
    a body cannot be redacted.
    """
    using = redactor or Redactor()
    before = using.counts()
    clean = redact(evidence, using)
    if not is_touching(set(using.counts()) - set(before)):
        return clean
    touched = touched_rules(evidence, clean, rulebook)
    exchanges = (
        replace(each, touched=merge_rules(each.touched, touched.get(each.number, ())))
        for each in clean.exchanges
    )
    return replace(clean, exchanges=tuple(exchanges))


def is_touching(counts: Iterable[Redaction]) -> bool:
    """Whether more was replaced than values of heads: opaque data is judged, too."""
    return any(not each.rule.startswith(_HARMLESS) for each in counts)


def touched_rules(
    evidence: Cassette, clean: Cassette, rulebook: Rulebook | None = None
) -> dict[int, tuple[str, ...]]:
    """By exchange the rules whose verdict or findings redaction changed, under any profile.

    Asked are the recording's own profile, the strict one and all that ship; of a rule that there
    is no time to ask under all of them it is taken for granted.
    """
    if any(each.is_connection for each in evidence.exchanges):
        return _touched_connections(evidence, clean, rulebook)
    if sum(_body_size(each) for each in evidence.exchanges) > _LONGEST:
        pairs = zip(evidence.exchanges, clean.exchanges, strict=True)
        return {a.number: EVERY_RULE for a, b in pairs if not _is_same(a, b)}
    copies = _TwoCopies(evidence, _sharing(evidence, clean))
    for book in (_shipped_rules(), *([rulebook] if rulebook is not None else [])):
        judged, results = copies.add_differing(book, None)
        if evidence.header.profile != _STRICT and not _are_strict(results, judged):
            judged |= copies.add_differing(book, _STRICT)[0]
        for dialect, numbers in _dialects_judged(results).items():
            copies.add_shifting(book, dialect, numbers, judged)
    return {number: tuple(sorted(rules)) for number, rules in copies.found.items() if rules}


def _touched_connections(
    evidence: Cassette, clean: Cassette, rulebook: Rulebook | None
) -> dict[int, tuple[str, ...]]:
    """As `touched_rules`: what one answer on a WebSocket lost, all answers on it have lost."""
    split = touched_rules(split_connections(evidence), split_connections(clean), rulebook)
    found: dict[int, tuple[str, ...]] = {}
    for each in carried_exchanges(evidence):
        rules = split.get(each.exchange.number, ())
        found[each.kept.number] = merge_rules(found.get(each.kept.number, ()), rules)
    return {number: rules for number, rules in found.items() if rules}


class _TwoCopies(Struct):
    """A recording as it came and as it is kept; `found` are rules that distinguish the two."""

    evidence: Cassette
    clean: Cassette
    found: dict[int, set[str]] = field(default_factory=dict)

    def add_differing(
        self, book: Rulebook, profile: str | None
    ) -> tuple[set[_By], list[StreamResult]]:
        """Adds what differs under one profile, None for that which the recording names.

        Gives by what both copies were judged, and the results of the clean one.
        """
        shared = UnchangedExchanges(self.evidence.exchanges)
        copies = (self.evidence, self.clean)
        came, kept = (_stream_results(each, book, profile, shared) for each in copies)
        before, after = _outcomes_by_view(came), _outcomes_by_view(kept)
        for key in before.keys() | after.keys():
            one, other = before.get(key, {}), after.get(key, {})
            rules = one.keys() | other.keys()
            differ = (rule for rule in rules if one.get(rule) != other.get(rule))
            self.found.setdefault(key[0], set()).update(differ)
        return _judged_by(came) & _judged_by(kept), kept

    def add_shifting(
        self, book: Rulebook, dialect: str, numbers: Collection[int], judged: Collection[_By]
    ) -> None:
        """Adds what differs under any other profile that ships than those `judged` by."""
        pairs = [
            (one, other)
            for one, other in zip(self.evidence.exchanges, self.clean.exchanges, strict=True)
            if one.number in numbers and one is not other
        ]
        shifting = shifting_rules(book, dialect, pairs)
        if not shifting:
            return
        profiles = profile_variants(shifting, dialect, _profiles_of_all(pairs, dialect, judged))
        if len(profiles) * sum(map(_body_size, self.evidence.exchanges)) > _LONGEST:
            for one, _ in pairs:
                self.found.setdefault(one.number, set()).update(rule.id for rule in shifting)
            return
        narrow = narrow_rulebook(book, tuple(rule.id for rule in shifting))
        for profile in profiles:
            self.add_differing(narrow, profile)


def _judged_by(results: Iterable[StreamResult]) -> set[_By]:
    return {(each.exchange, each.dialect, each.profile) for each in results}


def _are_strict(results: Collection[StreamResult], judged: Collection[_By]) -> bool:
    """Whether both copies were judged by the strict profile throughout, named or assumed."""
    strict = ((each.exchange, each.dialect, _STRICT) for each in results)
    return bool(results) and judged == set(strict)


def _profiles_of_all(
    pairs: Sequence[tuple[Exchange, Exchange]], dialect: str, judged: Collection[_By]
) -> set[str]:
    """Names of the profiles by which all of these exchanges were judged."""
    names = {name for _, spoken, name in judged if spoken == dialect}
    numbers = [one.number for one, _ in pairs]
    return {each for each in names if all((n, dialect, each) in judged for n in numbers)}


def _dialects_judged(results: Iterable[StreamResult]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for each in results:
        found.setdefault(each.dialect, set()).add(each.exchange)
    return found


def merge_rules(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    """Both, each once; every rule is every rule."""
    rules = {*one, *other}
    return EVERY_RULE if rules >= set(EVERY_RULE) else tuple(sorted(rules))


def _outcomes_by_view(results: Iterable[StreamResult]) -> _Judged:
    """By exchange and view the outcome of each rule."""
    return {(each.exchange, each.view): _rule_outcomes(each) for each in results}


def _stream_results(
    cassette: Cassette, rulebook: Rulebook, profile: str | None, shared: UnchangedExchanges
) -> list[StreamResult]:
    recording = InMemory(_NOWHERE, "cassette", cassette)
    try:
        return check_trusted(recording, rulebook, CheckChoices(profile=profile), shared)
    except ConformanceError:
        return []


def _rule_outcomes(result: StreamResult) -> dict[str, object]:
    found: dict[str, list[tuple[object, ...]]] = {}
    for each in result.findings:
        slots = {key: type(value).__name__ for key, value in each.slice.items()}
        found.setdefault(each.rule, []).append((each.event, each.byte, *sorted(slots.items())))
    return {rule: (verdict, found.get(rule)) for rule, verdict in result.verdicts.items()}


@cache
def _shipped_rules() -> Rulebook:
    return Rulebook.load()


def _is_same(one: Exchange, other: Exchange) -> bool:
    """Whether no rule can distinguish the two: heads lose values that no rule reads."""
    return (
        one.chunks == other.chunks
        and one.seen == other.seen
        and (one.request and one.request.json) == (other.request and other.request.json)
        and (one.response is None) == (other.response is None)
    )


def _sharing(evidence: Cassette, clean: Cassette) -> Cassette:
    """The clean copy with the very exchanges of the other where they are the same: judged once."""
    pairs = zip(evidence.exchanges, clean.exchanges, strict=True)
    shared = tuple(one if _is_same(one, other) else other for one, other in pairs)
    return replace(clean, exchanges=shared)


def _body_size(exchange: Exchange) -> int:
    return sum(len(chunk.data) for chunk in exchange.chunks)
