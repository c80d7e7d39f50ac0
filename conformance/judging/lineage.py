"""Which finding of a stream follows from which other: one order, decided by events and slices.

Rule 1: findings are ordered by event. On one event our own faults come first, then the severer
level, then the more frequent, then the wider slice: a broken stream breaks each of its parts.
Rule 2: a finding follows from an earlier one on the same event, on the same value of a field (an
`output_index` of -1 breaks whatever is sliced by it), or on the same missing field. A later place
in the same slice is not enough: an item may be wrong in many ways.
A joined text that differs follows from an event whose text could not be read.
A comparison with another hop shows at the last event, but does not depend on it: of these findings
only lost words follow from how the answer ended. A history that was altered shows at no event, and
does not follow from other faults of its request. An end that was made up follows from nothing.
Rule 3: thinking that never came as thinking follows from its markers in the text: it came there.
Rule 4: findings may show that they are about one event (`event_signs`).
Rule 5: nothing follows from a less severe finding, and ERROR neither causes nor follows. Where a
less severe finding is of the event of a later one, it follows that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.judging.consequences import is_made_up
from conformance.judging.event_signs import EventSign, are_of_one_event, event_signs
from conformance.judging.hop_rules import THINKING as HOP_THINKING
from conformance.judging.result import Finding
from conformance.judging.run_rules import THINKING
from conformance.rules.verdicts import Level, Verdict

_LEVELS: Final = {level: rank for rank, level in enumerate(Level)}
# Every semantic event has a choice, every comparison an exchange: such a slice is not a part.
_WHOLE: Final = frozenset({"choice", "exchange"})
_WORD: Final = re.compile(r"-?[\w.]*\w")
_MISSING: Final = re.compile(r"^(?:[\w.]+\.)?(\w+) of \S+: expected a value, got nothing$")
_NOTHING: Final = "nothing"  # what a missing field has: no value that others could share
_JUDGED: Final = re.compile(r"^([\w.]+) of ")  # the field that a message speaks of
_UNREAD: Final = re.compile(r"^[\w.]+ of \S+: expected .+, found ")
_JOINED: Final = re.compile(r"\b(?:joined|streamed)\b|^expected JSON\b")
_MARKER: Final = re.compile("think|thought|reason|analysis", re.IGNORECASE)
_STRAY: Final = ("stray",)  # the sign of a marker of thinking in the text
# A marker that closes thinking at the very beginning of the text: no thinking is in it.
_NOTHING_BEFORE: Final = re.compile(r"^'(?:</|\[/)[^']*' in text \(…'(?:</|\[/)")
_NONE: Final = "none"  # what a step got that was to think
_NONE_OF_IT: Final = ", got '' at character 0"
_LOST_WORDS: Final = re.compile(", got (?:'' at |nothing)")
_HISTORY: Final = "history/"
_ASKED: Final = "scenario/asked-"
_OF_HOPS: Final = "scenario/hop-"
_LONGEST: Final = 2000  # characters of a message that are looked at
_MOST_GIVERS: Final = 8  # findings with one sign of an event that later ones are compared with

# What a later finding is known by: an event, a value of a field, a missing field.
Sign = tuple[object, ...]
_LOST: Final[Sign] = ("lost text",)


def level_rank(finding: Finding) -> int:
    """0 for the gravest level."""
    return _LEVELS[finding.level]


def event_order(finding: Finding, number: int = 1) -> tuple[int, bool, int, int, int, bool]:
    """By event; what broke the order leads there: a text that differs may follow from it.

    `number` counts findings of its group.
    """
    is_error, width = finding.verdict is Verdict.ERROR, len(finding.slice)
    return finding.event, not is_error, level_rank(finding), -number, width, not finding.after


def direct_causes(ordered: Sequence[Finding]) -> Iterator[list[int]]:
    """For each finding of one stream the places, from 0, of those that it follows from directly.

    The surest comes first: a field or a value that was named, then the event.
    Findings are to come in `event_order`. The time is linear. A cause that comes later is severer.
    """
    of_events = _event_causes(ordered)
    for place, causes in enumerate(_causes_before(ordered)):
        yield list(dict.fromkeys((*causes, *of_events[place])))


def _event_causes(ordered: Sequence[Finding]) -> list[list[int]]:
    """By finding the places of those that show to be of the same event.

    What follows leads nothing: else many faults of one stream would be a chain.
    """
    causes: list[list[int]] = [[] for _ in ordered]
    given: dict[EventSign, list[int]] = {}
    for place, finding in enumerate(ordered):
        if finding.verdict is Verdict.ERROR:
            continue
        signs = event_signs(finding)
        met = ((sign, at) for sign in signs.hangs_on for at in given.get(sign, ()))
        alike = (at for sign, at in met if are_of_one_event(sign, ordered[at], finding))
        for other in dict.fromkeys(at for at in alike if not causes[at]):
            is_cause = level_rank(ordered[other]) <= level_rank(finding)
            causes[place if is_cause else other].append(other if is_cause else place)
        for sign in signs.gives:
            known = given.setdefault(sign, [])
            if len(known) < _MOST_GIVERS:
                known.append(place)
    return causes


def _causes_before(ordered: Sequence[Finding]) -> Iterator[list[int]]:
    pairs = {pair for finding in ordered for pair in _slice_pairs(finding)}
    fields = {name for name, _ in pairs}.union(*(_JUDGED.findall(f.message) for f in ordered))
    values = {value for _, value in pairs}.union(finding.got for finding in ordered) - {_NOTHING}
    first: dict[Sign, int] = {}
    for place, finding in enumerate(ordered):
        if finding.verdict is Verdict.ERROR:
            yield []
            continue
        words = _words(finding)
        lost = _MISSING.findall(finding.message[:_LONGEST])
        missing: list[Sign] = [("missing", name) for name in lost]
        lacking: list[Sign] = [("missing", name) for name in (*finding.slice, *words, *lost)]
        named: list[Sign] = list(
            product(filter(fields.__contains__, words), filter(values.__contains__, words))
        )
        own = _slice_pairs(finding)
        event: Sign = ("event", finding.event, _matter(finding))
        joined = [_LOST] if _JOINED.search(finding.message[:_LONGEST]) else []
        stray: list[Sign] = [_STRAY] if _lacks_thinking(finding) else []
        signs = (*lacking, *own, *named, *stray, event, *joined)
        hangs_on = dict.fromkeys(first[sign] for sign in signs if sign in first)
        rank = level_rank(finding)
        yield [at for at in hangs_on if level_rank(ordered[at]) <= rank]
        lost_text = [_LOST] if _UNREAD.match(finding.message[:_LONGEST]) else []
        shown: list[Sign] = [_STRAY] if _is_stray_marker(finding) else []
        for sign in (*missing, *named, *shown, event, *lost_text):
            first.setdefault(sign, place)


def _matter(finding: Finding) -> str:
    """What a comparison with another hop or turn is about; empty for what happens at an event."""
    if finding.rule.startswith(_ASKED) or is_made_up(finding):
        return finding.rule
    if finding.rule.startswith(_HISTORY) and not finding.event:
        return _HISTORY
    is_lost = _LOST_WORDS.search(finding.message[:_LONGEST])
    return _OF_HOPS if finding.rule.startswith(_OF_HOPS) and not is_lost else ""


def _is_stray_marker(finding: Finding) -> bool:
    """Whether the text has a marker of thinking with something on its inner side."""
    if _NOTHING_BEFORE.search(finding.message[:_LONGEST]):
        return False
    return finding.expected == ("text without it",) and bool(_MARKER.search(finding.got))


def _lacks_thinking(finding: Finding) -> bool:
    """Whether the stream lacks thinking that was expected, or that the model had sent."""
    if finding.rule == HOP_THINKING.id:
        return _NONE_OF_IT in finding.message[:_LONGEST]
    if finding.rule == THINKING.id:
        return finding.got == _NONE
    expects = any(each.startswith("thinking.") for each in finding.expected)
    return expects and finding.got.startswith("end of ")


def _slice_pairs(finding: Finding) -> list[tuple[str, str]]:
    return [(k, str(v)) for k, v in sorted(finding.slice.items()) if k not in _WHOLE]


def _words(finding: Finding) -> list[str]:
    """The words of a message, without those of the previous event and of the expected value."""
    others = _WORD.findall(" ".join((finding.after, *finding.expected))[:_LONGEST])
    left_out = {*others} - {finding.got}
    said = _WORD.findall(finding.message[:_LONGEST])
    return [word for word in dict.fromkeys(said) if word not in left_out]
