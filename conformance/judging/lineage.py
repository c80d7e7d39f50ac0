"""Which finding of a stream follows from which other: one order, decided by events and slices.

Rule 1: findings are ordered by event. On one event our own faults come first, then the severer
level, then the more frequent, then the wider slice: a broken stream breaks each of its parts.
Rule 2: a finding follows from an earlier one on the same event, on the same value of a field (an
`output_index` of -1 breaks whatever is sliced by it), or on the same missing field. A later place
in the same slice is not enough: an item may be wrong in many ways.
A joined text that differs follows from an event whose text could not be read.
A comparison with another hop shows at the last event, but does not depend on it: of these findings
only lost words follow from how the answer ended. A history that was altered shows at no event, and
does not follow from other faults of its request. An end that was made up follows from nothing, and
neither does a stream in place of the body that was requested.
Rule 3: thinking that never came as thinking follows from its markers in the text: it came there.
Rule 4: findings may show that they are about one event (`event_signs`).
Rule 5: nothing follows from a less severe finding, and ERROR neither causes nor follows. Where a
less severe finding is of the event of a later one, it follows that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from conformance.judging.consequences import is_made_up
from conformance.judging.demand_rules import BODY_AS_ASKED
from conformance.judging.event_signs import CUT_OFF, EventSign, are_of_one_event, event_signs
from conformance.judging.hop_rules import THINKING as HOP_THINKING
from conformance.judging.result import Finding
from conformance.judging.run_rules import THINKING
from conformance.rules.about import BreachKind, Change
from conformance.rules.verdicts import Level, Verdict

_LEVELS: Final = {level: rank for rank, level in enumerate(Level)}
# Every semantic event has a choice, every comparison an exchange: such a slice is not a part.
_WHOLE: Final = frozenset({"choice", "exchange"})
_MARKER: Final = re.compile("think|thought|reason|analysis", re.IGNORECASE)
_STRAY: Final = ("stray",)  # the sign of a marker of thinking in the text
_NONE: Final = "none"  # what a step got that was to think
_HISTORY: Final = "history/"
_PASSED: Final = "scenario/asked-"
_OF_HOPS: Final = "scenario/hop-"
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

    What follows leads nothing, but to what it cut off: else many faults would be a chain.
    """
    causes: list[list[int]] = [[] for _ in ordered]
    given: dict[EventSign, list[int]] = {}
    for place, finding in enumerate(ordered):
        if finding.verdict is Verdict.ERROR:
            continue
        gives, hangs_on = event_signs(finding)
        met = ((sign, at) for sign in hangs_on for at in given.get(sign, ()))
        leading = ((sign, at) for sign, at in met if not causes[at] or sign[0] == CUT_OFF)
        alike = (at for sign, at in leading if are_of_one_event(sign, ordered[at], finding))
        for other in dict.fromkeys(alike):
            is_cause = level_rank(ordered[other]) <= level_rank(finding)
            causes[place if is_cause else other].append(other if is_cause else place)
        for sign in gives:
            known = given.setdefault(sign, [])
            if len(known) < _MOST_GIVERS:
                known.append(place)
    return causes


def _causes_before(ordered: Sequence[Finding]) -> Iterator[list[int]]:
    first: dict[Sign, int] = {}
    for place, finding in enumerate(ordered):
        if finding.verdict is Verdict.ERROR:
            yield []
            continue
        about, fields = finding.about, finding.about.fields
        gone = [path for path, value in fields if value is None and about.kind is BreachKind.FIELD]
        lost = [path.rpartition(".")[2] for path in gone]
        # What is known all the same leads astray no rule that needs it.
        missing: list[Sign] = [("missing", name) for name in lost if name not in about.inferred]
        again: list[Sign] = [("missing again", name) for name in lost]
        # A value may be a name: that of a marker which opens a field.
        names = (*finding.slice, *(each for pair in fields for each in pair if each not in gone))
        lacking: list[Sign] = [*(("missing", name) for name in names), *again]
        named: list[Sign] = [pair for pair in fields if pair[1] is not None]
        own = _slice_pairs(finding)
        event: Sign = ("event", finding.event, _matter(finding))
        joined = [_LOST] if about.kind is BreachKind.TEXTS else []
        stray: list[Sign] = [_STRAY] if _lacks_thinking(finding) else []
        signs = (*lacking, *own, *named, *stray, event, *joined)
        hangs_on = dict.fromkeys(first[sign] for sign in signs if sign in first)
        rank = level_rank(finding)
        yield [at for at in hangs_on if level_rank(ordered[at]) <= rank]
        lost_text = [_LOST] if about.kind is BreachKind.UNREAD_FIELD else []
        shown: list[Sign] = [_STRAY] if _is_stray_marker(finding) else []
        given = named if about.kind in (BreachKind.FIELD, BreachKind.NUMBER) else []
        for sign in (*missing, *again, *given, *shown, event, *lost_text):
            first.setdefault(sign, place)


def _matter(finding: Finding) -> str:
    """What a comparison with another hop or turn is about; empty for what happens at an event."""
    if finding.rule.startswith(_PASSED) or finding.rule == BODY_AS_ASKED.id or is_made_up(finding):
        return finding.rule
    if finding.rule.startswith(_HISTORY) and not finding.event:
        return _HISTORY
    is_lost = finding.about.change is Change.LOST
    return _OF_HOPS if finding.rule.startswith(_OF_HOPS) and not is_lost else ""


def _is_stray_marker(finding: Finding) -> bool:
    """Whether the text has a marker of thinking with something on its inner side."""
    is_marker = finding.about.kind is BreachKind.MARKED and not finding.about.opens
    return is_marker and bool(_MARKER.search(finding.got))


def _lacks_thinking(finding: Finding) -> bool:
    """Whether the stream lacks thinking that was expected, or that the model had sent."""
    if finding.rule == HOP_THINKING.id:
        return finding.about.change is Change.LOST
    if finding.rule == THINKING.id:
        return finding.got == _NONE
    about = finding.about
    return not about.type and any(each.startswith("thinking.") for each in about.lacks)


def _slice_pairs(finding: Finding) -> list[tuple[str, str]]:
    return [(k, str(v)) for k, v in sorted(finding.slice.items()) if k not in _WHOLE]
