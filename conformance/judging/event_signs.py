"""By what findings of one answer show that they are about one event: lost, misplaced, or unread.

Rule 1: a type that two findings miss, or one of them meets in the wrong place, is missing for one
reason. So is one that a finding could read in part only, if it is of the same slice. What opens,
fills and closes a part belongs together: where its start has another id, its end is missing, too.
Rule 2: behind a frame that nobody could read, or a hole in the numbers of a stream, what is missing
or differs is what was in it.
Rule 3: texts that differ are one difference where the same event states or collects them, where
such an event is wrong itself, or where the deltas are.
Rule 4: what comes too late behind an event comes behind what is wrong there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from conformance.judging.result import Finding

# What such a finding is known by: a kind of sign, and a type or an event.
EventSign = tuple[str, object]

_LONGEST: Final = 2000  # characters of a message that are looked at
_OF_STREAMS: Final = (
    *("wire/", "summary/lifecycle/"),
    *("thinking/stream/", "thinking/answer/", "stripping/visible-text/"),
)
_UNREAD: Final = frozenset(
    {
        *("data-is-json", "line-is-json", "element-is-json", "payload-json", "utf8", "array-utf8"),
        *("fields-known", "event-known", "message-known", "payload-known", "type-known"),
        *("event-typed", "line-typed", "message-typed", "update-typed", "rpc-typed"),
        *("payload-is-object", "content-is-object", "headers-readable", "checksums"),
    }
)
_EVENT_LINES: Final = "event-lines"  # where the payload has no type either
_WRONG_DELTAS: Final = frozenset(
    {
        *("increments", "text-increments", "said-once", "text-said-once"),
        *("characters-whole", "decoded-once", "no-program-values", "unmarked", "no-call-markup"),
        *("no-markers", "no-call-markers", "no-thinking-body", "no-short-thinking"),
    }
)
_OF_WHOLES: Final = frozenset({"snapshot-adds-nothing", "snapshot-has-calls", "input-agrees"})
_UNTYPED: Final = '.type ""'
_BEFORE: Final = " came without an earlier "
_BEHIND: Final = " came after "
_LATER: Final = " (after "
_NEVER: Final = " may not occur"
_UNKNOWN: Final = ".unknown"  # how readers call an event of a type that they do not know
_NO_JSON: Final = "expected JSON"
_EXPECTED: Final = "expected "
_END: Final = "end of "
_OF_NUMBERS: Final = frozenset({"sequence-from-zero", "sequence-rises", "index-counts"})
_HOLE: Final = re.compile(r"^(\S+) of (\S+): expected (\d+), got (\d+)")
_PARTLY_READ: Final = re.compile(r"^(\S+) of (\S+): expected .+, (?:found|got) ")
_TYPE: Final = re.compile(r"(?:^|\.)(?:type|event_type|event|kind|sessionUpdate|method)$")
_DIFFERS: Final = (
    re.compile(r"^\S+ of (\S+) differs from (?:the )?(?:\d+|last) (\S+)"),
    re.compile(r"^\S+ of (\S+): expected nothing, as no (\S+) was streamed"),
    re.compile(r"^(\S+) has no \S+ for what (\S+)"),
    re.compile(r"^\S+ of (\S+) lacks what was (streamed)"),
)
_NONE_CAME: Final = _DIFFERS[1]
_FLAG: Final = re.compile(r" \w+ (?:true|false)\b.* may not occur$")
_STREAMED: Final = re.compile(r"\b(?:streamed|stated)\b")
_EVENT: Final = re.compile(r"^(\S+).* \(event (\d+)\)$")
_STEM: Final = re.compile(
    r"(.+?)[-_./]?(?:[sS]tart|START|[sS]top|[eE]nd|END|[dD]elta|CONTENT|ARGS|added|done|available)$"
)
_DELTA: Final = re.compile("(?:[dD]elta|CONTENT|ARGS)$")
_PIECES: Final = 3  # lines that one event falls apart into
_ANY_TEXT: Final[EventSign] = ("text", "")
_MOVED_TEXT: Final[EventSign] = ("moved", "")
_ANY_FRAME: Final[EventSign] = ("unread", "")


class EventSigns(Struct, frozen=True):
    """The signs of one finding: those that later findings hang on, and those that it hangs on."""

    gives: tuple[EventSign, ...] = ()
    hangs_on: tuple[EventSign, ...] = ()


_NO_SIGNS: Final = EventSigns()
_OF_ANY_ANSWER: Final = frozenset({"lost", "part"})


def event_signs(finding: Finding) -> EventSigns:
    """What shows of which event a finding is."""
    if not finding.rule.startswith(_OF_STREAMS) or not finding.event:
        return _NO_SIGNS
    message = finding.message[:_LONGEST]
    lost = [*_lost(finding, message), *_differing(finding, message), *_flagged(message)]
    moved = [*_misplaced(finding, message)]
    both = (*lost, *moved)
    behind = [*_behind(finding, message)]
    hangs_on = [*both, *behind, *_beside(finding, message)]
    if both:
        hangs_on.append(_ANY_FRAME)
    if hole := _HOLE.match(message):
        hangs_on += [_ANY_FRAME, ("field", hole[1])]
    return EventSigns((*both, *behind, *_faulty(finding, message)), tuple(hangs_on))


def are_of_one_event(sign: EventSign, one: Finding, other: Finding) -> bool:
    """Whether two findings that share a sign may be of one event."""
    if sign[0] in _OF_ANY_ANSWER:
        return True
    if one.unit and set(one.answers).isdisjoint(other.answers):
        return False
    if sign == _MOVED_TEXT:
        return True
    return all(other.slice.get(key, value) == value for key, value in one.slice.items())


def _lost(finding: Finding, message: str) -> Iterator[EventSign]:
    """The types of events of which one did not come."""
    for each in _missing_types(finding, message):
        yield from (("lost", each), ("type", each), ("differs", each), *_part(each))


def _missing_types(finding: Finding, message: str) -> Iterator[str]:
    if none := _NONE_CAME.match(message):
        yield none[2]
    elif _BEFORE in message or message.startswith(_EXPECTED):
        expected = " | ".join(finding.expected).split(" | ")
        yield from (each.partition(" ")[0] for each in expected if not each.startswith(_END))
    elif _name(finding) not in _OF_NUMBERS and (hole := _HOLE.match(message)):
        yield from (hole[2],) * (int(hole[4]) > int(hole[3]))


def _misplaced(finding: Finding, message: str) -> Iterator[EventSign]:
    """The event that came where it may not."""
    is_order = message.startswith(_EXPECTED) or _BEHIND in message or _BEFORE in message
    if is_order and not finding.got.startswith(_END):
        yield from (("type", finding.got), ("lost", finding.got), ("differs", finding.got))
        yield from _part(finding.got)
        if _DELTA.search(finding.got):
            yield _MOVED_TEXT


def _part(kind: str) -> Iterator[EventSign]:
    """The part of an answer that events of a type open, fill and close."""
    if (stem := _STEM.match(kind)) and stem[1]:
        yield "part", stem[1]


def _differing(finding: Finding, message: str) -> Iterator[EventSign]:
    """Texts that differ, by the events that hold them."""
    found = next((found for each in _DIFFERS if (found := each.match(message))), None)
    if found:
        yield from (("differs", found[1]), ("differs", found[2]))
    if found or message.startswith(_NO_JSON) or _name(finding) in _WRONG_DELTAS | _OF_WHOLES:
        yield from (_ANY_TEXT, _MOVED_TEXT)


def _flagged(message: str) -> Iterator[EventSign]:
    """What a reader says of an event that does not fit those before it."""
    if not _FLAG.search(message):
        return
    kind = message.partition(" ")[0]
    yield from (("differs", kind), *_part(kind))
    if _STREAMED.search(message):
        yield from (_ANY_TEXT, _MOVED_TEXT)


def _behind(finding: Finding, message: str) -> Iterator[EventSign]:
    """The event behind which it came, of which it may be."""
    if not (place := _EVENT.match(finding.after)):
        return
    event = int(place[2])
    if _BEHIND in message or _LATER in message:
        yield from (("at", event), ("behind", event))
    if _LATER in message:
        yield "type", place[1]
        if read := _PARTLY_READ.match(message):
            yield from (("differs", read[2]), *_part(read[2]))
            yield from (_MOVED_TEXT,) * bool(_DELTA.search(read[2]))
    if _BEHIND in message:
        yield from (("type", place[1]), ("lost", place[1]))
    if message.startswith(_EXPECTED):
        yield "opened", event


def _faulty(finding: Finding, message: str) -> Iterator[EventSign]:
    """What is wrong with the event that a finding stands at."""
    yield from (("at", finding.event), ("behind", finding.event))
    if _BEHIND in message:
        yield "opened", finding.event
    read = _PARTLY_READ.match(message)
    if read or message.endswith(_NEVER):
        kind = read[2] if read else message.partition(" ")[0]
        yield from (("type", kind), ("differs", kind), ("opened", finding.event))
        yield from _part(kind)
        if _DELTA.search(kind):
            yield from (_ANY_TEXT, _MOVED_TEXT)
    if read:
        yield "field", read[1]
    if _is_unread(finding, message) or (read and _TYPE.search(read[1])):
        yield from (_ANY_FRAME, ("frame", finding.event))
    elif _name(finding) in _OF_NUMBERS:
        yield _ANY_FRAME


def _beside(finding: Finding, message: str) -> Iterator[EventSign]:
    """Frames near it, where an event may have fallen apart."""
    if _name(finding) in _WRONG_DELTAS | {_EVENT_LINES} or _is_unread(finding, message):
        yield from (("frame", finding.event + n) for n in range(-_PIECES, _PIECES + 1))


def _is_unread(finding: Finding, message: str) -> bool:
    """Whether nobody could tell what a frame is."""
    name = _name(finding)
    is_untyped = name == _EVENT_LINES and _UNTYPED in message
    return name in _UNREAD or is_untyped or finding.got.endswith(_UNKNOWN)


def _name(finding: Finding) -> str:
    return finding.rule.rpartition("/")[2]
