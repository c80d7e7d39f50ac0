"""A recording without its secrets that says which rules cannot judge it any more.

A stand-in has the length and the alphabet of what it replaces, so most rules judge a redacted
recording as they judged the bytes that came. Where one does not, the recording names it: the rule
is untestable from then on, neither kept nor broken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from conformance.cassette import Cassette, Redaction, Redactor, redact
from conformance.core.errors import ConformanceError
from conformance.core.events import Exchange
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import CheckChoices, check_trusted
from conformance.recordings.in_memory import InMemory

EVERY_RULE: Final = ("*",)
# Judged twice in the time that nobody waits for; of a longer answer every rule is given up.
_LONGEST: Final = 4 * 1024 * 1024
_HARMLESS: Final = ("header", "query", "userinfo")
_NOWHERE: Final = Path("evidence.cassette.jsonl")
_PROFILES: Final = (None, "strict")

_Judged = Mapping[tuple[int, str], Mapping[str, object]]


def redact_evidence(
    evidence: Cassette, redactor: Redactor | None = None, rulebook: Rulebook | None = None
) -> Cassette:
    """What may be kept of a recording; each exchange names the rules that judge it otherwise now.

    `rulebook` has the rules of the user's own, beside those that ship. Raises CassetteError where
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
    """By exchange the rules whose verdict or findings redaction changed."""
    if sum(_size(each) for each in evidence.exchanges) > _LONGEST:
        pairs = zip(evidence.exchanges, clean.exchanges, strict=True)
        return {a.number: EVERY_RULE for a, b in pairs if not _is_same(a, b)}
    found: dict[int, set[str]] = {}
    for book in (_shipped_rules(), *([rulebook] if rulebook is not None else [])):
        for profile in _PROFILES:
            before, after = (_judge(each, book, profile) for each in (evidence, clean))
            for key in before.keys() | after.keys():
                one, other = before.get(key, {}), after.get(key, {})
                rules = one.keys() | other.keys()
                differ = (rule for rule in rules if one.get(rule) != other.get(rule))
                found.setdefault(key[0], set()).update(differ)
    return {number: tuple(sorted(rules)) for number, rules in found.items() if rules}


def merge_rules(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    """Both, each once; every rule is every rule."""
    rules = {*one, *other}
    return EVERY_RULE if rules >= set(EVERY_RULE) else tuple(sorted(rules))


def _judge(cassette: Cassette, rulebook: Rulebook, profile: str | None) -> _Judged:
    """By exchange and view what each rule said; nothing where nobody can judge it."""
    try:
        results = check_trusted(
            InMemory(_NOWHERE, "cassette", cassette), rulebook, CheckChoices(profile=profile)
        )
    except ConformanceError:
        return {}
    return {(each.exchange, each.view): _said(each) for each in results}


def _said(result: StreamResult) -> dict[str, object]:
    found: dict[str, list[tuple[object, ...]]] = {}
    for each in result.findings:
        slots = {key: type(value).__name__ for key, value in each.slice.items()}
        found.setdefault(each.rule, []).append((each.event, each.byte, *sorted(slots.items())))
    return {rule: (verdict, found.get(rule)) for rule, verdict in result.verdicts.items()}


@cache
def _shipped_rules() -> Rulebook:
    return Rulebook.load()


def _is_same(one: Exchange, other: Exchange) -> bool:
    """Whether a rule can tell the two apart: heads lose values that no rule reads."""
    return (
        one.chunks == other.chunks
        and one.seen == other.seen
        and (one.request and one.request.json) == (other.request and other.request.json)
        and (one.response is None) == (other.response is None)
    )


def _size(exchange: Exchange) -> int:
    return sum(len(chunk.data) for chunk in exchange.chunks)
