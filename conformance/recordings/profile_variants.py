"""Profiles under which a rule could say otherwise of what redaction changed.

Most rules say the same under every profile: only those that read what was changed, and hang on what
a profile says, are asked again, until each has had every answer that a shipped profile gives it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, zip_longest
from typing import Final

from conformance import dialects
from conformance.core.events import SEMANTIC_EVENTS, Event, Exchange
from conformance.core.reading import Reading
from conformance.dialects import WIRE_KEYS
from conformance.judging.fast.joined import read_joined
from conformance.judging.rulebook import Rulebook, profile_values
from conformance.profiles.lookup import available, find
from conformance.profiles.profile import Profile, reading
from conformance.rules.applies import profile_excludes
from conformance.rules.model import Rule
from conformance.rules.paths import MISSING
from conformance.rules.patterns import token
from conformance.rules.reads import fields_read, knobs_read, reads_meaning

_SPOKEN: Final = frozenset({"text", "data", "arguments"})
_OPAQUE: Final = frozenset({*WIRE_KEYS.opaque, "data"})

_ReadRule = tuple[Rule, bool, Sequence[str]]  # whether it reads semantic events, the knobs it reads
_Answer = tuple[object, ...]


def shifting_rules(
    rulebook: Rulebook, dialect: str, pairs: Iterable[tuple[Exchange, Exchange]]
) -> tuple[Rule, ...]:
    """Rules that a profile can change, and that read what differs between two exchanges.

    All that a profile can change where events are there in one of the two alone.
    """
    changed: dict[str, set[str]] = {}
    is_same_order = True
    for pair in pairs:
        one, other = (_exchange_events(each, dialect) for each in pair)
        is_same_order &= [each.type for each in one] == [each.type for each in other]
        for a, b in zip(one, other, strict=False):
            if a.data != b.data:
                changed.setdefault(a.type, set()).update(_differing_paths(a.data, b.data))
    rules = (rule for rule in rulebook.rules if rule.judges(dialect))
    shifting = (rule for rule in rules if reads_meaning(rule) or knobs_read(rule))
    if not is_same_order:
        return tuple(shifting)
    return tuple(rule for rule in shifting if _reads_changed(rule, changed)) if changed else ()


def profile_variants(
    rules: Sequence[Rule], dialect: str, judged: Collection[str]
) -> tuple[str, ...]:
    """Names of shipped profiles that give the rules answers which those `judged` do not give.

    Whatever a shipped profile answers a rule that applies, one of these or of `judged` does, too.
    """
    profiles = {each.name: each for each in _shipped_profiles(dialect)}
    read_rules = [(rule, reads_meaning(rule), sorted(knobs_read(rule))) for rule in rules]
    known: set[_Answer] = set()
    for name in profiles.keys() & set(judged):
        known |= _profile_answers(profiles[name], read_rules)
    found: list[str] = []
    for name, profile in profiles.items():
        answers = _profile_answers(profile, read_rules)
        if not answers <= known:
            found.append(name)
            known |= answers
    return tuple(found)


def _profile_answers(profile: Profile, read_rules: Iterable[_ReadRule]) -> set[_Answer]:
    """What a profile says to each rule that applies: how streams are read, if that matters, knobs.

    A rule that does not apply says the same of any stream.
    """
    values, read = profile_values(profile), reading_key(reading(profile))
    return {
        (rule.id, read if is_of_meaning else None, *(token(values.get(n, "")) for n in knobs))
        for rule, is_of_meaning, knobs in read_rules
        if not profile_excludes(rule, values)
    }


@lru_cache(maxsize=16)
def narrow_rulebook(rulebook: Rulebook, rules: tuple[str, ...]) -> Rulebook:
    """Those rules of a book; what it compiles is kept for the next exchange."""
    return Rulebook(rulebook.suites, rules)


def reading_key(read: Reading) -> object:
    """Equal for profiles whose streams are read alike."""
    fields = tuple(sorted((name, tuple(paths)) for name, paths in read.fields.items()))
    return read.markers, read.opened_by_prompt, read.last_close, fields


@cache
def _shipped_profiles(dialect: str) -> tuple[Profile, ...]:
    return tuple(find(name, of) for name, of, _ in available() if of == dialect)


def _exchange_events(exchange: Exchange, dialect: str) -> list[Event]:
    read = read_joined(exchange, dialects.get(dialect), Reading(), joins=False)
    return [event for each in read for event in each.events]


def _differing_paths(one: object, other: object, path: str = "") -> Iterator[str]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        inner = [
            (name, one.get(name, MISSING), other.get(name, MISSING)) for name in {**one, **other}
        ]
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        inner = [("*", a, b) for a, b in zip_longest(one, other, fillvalue=MISSING)]
    else:
        if one != other:
            yield path
        return
    for name, a, b in inner:
        yield from _differing_paths(a, b, f"{path}.{name}" if path else str(name))


def _reads_changed(rule: Rule, changed: Mapping[str, set[str]]) -> bool:
    """Whether it may; another profile may find the changed texts in other semantic events."""
    fields = fields_read(rule)
    named = chain.from_iterable(alias.types for alias in rule.aliases.values())
    is_opaque = all(_is_opaque(path) for paths in changed.values() for path in paths)
    spoken = {} if is_opaque else dict.fromkeys(SEMANTIC_EVENTS.keys() & named, _SPOKEN)
    pairs = ((kind, path) for each in (changed, spoken) for kind in each for path in each[kind])
    return any(fields.reads(kind, path) for kind, path in pairs)


def _is_opaque(path: str) -> bool:
    """Whether opaque data is there, which no profile takes for a text."""
    return path.rpartition(".")[2] in _OPAQUE
