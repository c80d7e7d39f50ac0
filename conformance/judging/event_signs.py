"""By what findings of one answer show that they are about one event: lost, misplaced, or unread.

Rule 1: a type that two findings miss, or one of them meets in the wrong place, is missing for one
reason. So is one that a finding could read in part only, if it is of the same slice. What opens,
fills and closes a part belongs together: where its start has another id, its end is missing, too.
Rule 2: after an unreadable frame, or a hole in the numbers of a stream, what is missing
or differs is what was in it.
Rule 3: texts that differ are one difference where the same event states or collects them, where
such an event is wrong itself, or where the deltas are.
Rule 4: what comes too late after an event comes after what is wrong there.
Rule 5: a part or a message that begins again begins others again, too, and splits their texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from conformance.judging.result import Finding
from conformance.rules.about import About, BreachKind

# What such a finding is known by: a kind of sign, and a type or an event.
EventSign = tuple[str, object]

_OF_EFFORT: Final = "effort/"  # rules of what a request asks, whatever the stream is like
_TYPE: Final = re.compile(r"(?:^|\.)(?:type|event_type|event|kind|sessionUpdate|method)$")
_STEM: Final = re.compile(
    r"(.+?)[-_./]?(?:[sS]tart(?:ed)?|START|[sS]top|[eE]nd|END|[dD]elta|CONTENT|ARGS|added|done|available)$"
)
_DELTA: Final = re.compile("(?:[dD]elta|CONTENT|ARGS)$")
_START: Final = re.compile(r"(?:[sS]tart(?:ed)?|START|[aA]dded)$")
_UNKNOWN: Final = ".unknown"  # how readers call an event of a type that they do not know
_FRAME: Final = (".frame", ".ignored", ".comment")  # and what is no event yet
_FLAGS: Final = frozenset({"True", "False"})
_PIECES: Final = 3  # lines that one event falls apart into
_ANY_TEXT: Final[EventSign] = ("text", "")
_MOVED_TEXT: Final[EventSign] = ("moved", "")
_ANY_FRAME: Final[EventSign] = ("unread", "")
CUT_OFF: Final = "cut off"  # the sign of a text that ends at an event
_BEGUN_AGAIN: Final[EventSign] = ("begun again", "")
_SPLIT_FIELD: Final = ("split", "True")  # how a reader marks thinking that goes on in another block
_FIELDS: Final = frozenset({BreachKind.FIELD, BreachKind.UNREAD_FIELD, BreachKind.NUMBER})
_DELTAS: Final = frozenset({BreachKind.MARKED, BreachKind.REPEATED})


def event_signs(finding: Finding) -> tuple[Sequence[EventSign], Sequence[EventSign]]:
    """What shows of which event a finding is: what later ones hang on, and what it hangs on."""
    about, kind = finding.about, finding.about.kind
    if kind is BreachKind.OTHER or not finding.event or finding.rule.startswith(_OF_EFFORT):
        return (), ()
    both = (*_lost(about), *_differing(about), *_misplaced(about), *_begun_again(finding))
    preceding = tuple(_preceding_event(about))
    counted = [("field", path) for path, _ in about.fields if kind is BreachKind.NUMBER]
    holes = (_ANY_FRAME,) if both or counted else ()
    hangs_on = (*both, *preceding, *_nearby_frames(finding), *holes, *counted, *_split(about))
    return (*both, *preceding, *_faulty(finding)), hangs_on


def are_of_one_event(sign: EventSign, one: Finding, other: Finding) -> bool:
    """Whether two findings that share a sign may be of one event."""
    if sign[0] in ("lost", "part", CUT_OFF):
        return True
    if one.unit and set(one.answers).isdisjoint(other.answers):
        return False
    if sign in (_MOVED_TEXT, _BEGUN_AGAIN):
        return True
    return all(other.slice.get(key, value) == value for key, value in one.slice.items())


def _lost(about: About) -> Iterator[EventSign]:
    """The types of events of which one did not come."""
    for each in about.lacks:
        yield from (("lost", each), ("type", each), ("differs", each), *_part(each))


def _misplaced(about: About) -> Iterator[EventSign]:
    """The event that came where it may not."""
    if about.kind in (BreachKind.ORDER, BreachKind.LATE) and about.type:
        yield from (("type", about.type), ("lost", about.type), ("differs", about.type))
        yield from _part(about.type, _MOVED_TEXT)


def _begun_again(finding: Finding) -> Iterator[EventSign]:
    """A start where what it begins goes on; the text before it is cut off there."""
    about, (kind, event) = finding.about, finding.about.behind or ("", 0)
    goes_on = _stem(kind) == _stem(about.type) or kind in about.lacks
    if not (goes_on and _START.search(about.type)):
        return
    is_used = about.kind is BreachKind.FIELD and about.type in about.beside
    if about.kind in (BreachKind.ORDER, BreachKind.LATE) or is_used or _counts_back(finding):
        yield from (_BEGUN_AGAIN, (CUT_OFF, event))


def _stem(kind: str) -> str:
    found = _STEM.match(kind)
    return found[1] if found else kind


def _counts_back(finding: Finding) -> bool:
    """Whether a start has a number that was used before it."""
    due, got = "".join(finding.expected[:1]), finding.got
    is_number = finding.about.kind is BreachKind.NUMBER and due.isdigit() and got.isdigit()
    return is_number and int(got) < int(due)


def _split(about: About) -> Iterator[EventSign]:
    """Thinking that goes on in another block, and a joined text that ends, or begins, too early."""
    if _SPLIT_FIELD in about.fields:
        yield _BEGUN_AGAIN
    if about.kind is BreachKind.TEXTS and not about.type and about.behind:
        yield CUT_OFF, about.behind[1]


def _part(kind: str, *of_delta: EventSign) -> Iterator[EventSign]:
    """The part of an answer that events of a type open, fill and close."""
    if (stem := _STEM.match(kind)) and stem[1]:
        yield "part", stem[1]
    if _DELTA.search(kind):
        yield from of_delta


def _differing(about: About) -> Iterator[EventSign]:
    """Texts that differ, by the events that hold them; and what a reader says of one event."""
    if about.kind is BreachKind.TEXTS:
        yield from (("differs", each) for each in (about.type, *about.beside) if each)
    elif _is_flagged(about):
        yield from (("differs", about.type), *_part(about.type))
    if about.kind is BreachKind.TEXTS or about.kind in _DELTAS:
        yield from (_ANY_TEXT, _MOVED_TEXT)


def _preceding_event(about: About) -> Iterator[EventSign]:
    """The event after which it came, of which it may be a part."""
    kind, event = about.behind or ("", 0)
    if not kind:
        return
    if about.kind is BreachKind.ORDER:
        yield "opened", event
    elif about.kind is BreachKind.LATE:
        yield from (("at", event), ("behind", event), ("type", kind), ("lost", kind))
    elif about.kind in _FIELDS:
        yield from (("at", event), ("behind", event), ("type", kind), ("differs", about.type))
        yield from _part(about.type, _MOVED_TEXT)


def _faulty(finding: Finding) -> Iterator[EventSign]:
    """What is wrong with the event that a finding is at."""
    about, event = finding.about, finding.event
    yield from (("at", event), ("behind", event))
    if about.kind in _FIELDS or about.kind is BreachKind.EVENT:
        yield "opened", event
        if about.inferred and {path for path, _ in about.fields} <= set(about.inferred):
            return  # it lacks what is known all the same
        yield from (("type", about.type), ("differs", about.type))
        # Others of these types may be as wrong: of a slice the first is reported.
        yield from (("type", each) for each in about.beside if _is_flagged(about))
        yield from _part(about.type, _ANY_TEXT, _MOVED_TEXT)
    if about.kind is BreachKind.LATE:
        yield "opened", event
    if about.kind in _FIELDS:
        yield from (("field", path) for path, _ in about.fields)
    if _is_unread(about):
        yield from (_ANY_FRAME, ("frame", event))
    elif about.kind is BreachKind.NUMBER and len(about.beside) != 1:
        yield _ANY_FRAME  # the type of the lost one is unknown


def _nearby_frames(finding: Finding) -> Iterator[EventSign]:
    """Frames near it, where an event may have fallen apart."""
    about = finding.about
    is_frame = about.kind is BreachKind.EVENT and about.type.endswith(_FRAME)
    if about.kind in _DELTAS or is_frame or _is_unread(about):
        yield from (("frame", finding.event + n) for n in range(-_PIECES, _PIECES + 1))


def _is_flagged(about: About) -> bool:
    """Whether a reader says of an event that it does not fit those before it."""
    return about.kind is BreachKind.EVENT and not _FLAGS.isdisjoint(dict(about.fields).values())


def _is_unread(about: About) -> bool:
    """Whether a frame is of an unknown kind."""
    is_field, is_event = about.kind in _FIELDS, about.kind is BreachKind.EVENT
    kinds = (about.type, *about.beside) if is_event else (about.type,)
    return any(each.endswith(_UNKNOWN) for each in kinds) or any(
        (is_event and (path == "reason" or (path, value) == ("json", None)))
        or (_TYPE.search(path) and (is_field or value == ""))
        for path, value in about.fields
    )
