from __future__ import annotations

from typing import Any

from conformance.judging.lineage import direct_causes
from conformance.rules.about import About, BreachKind
from conformance.rules.verdicts import Level
from tests.each import each_row
from tests.plain_results import plain_finding


def about(kind: str, type_: str = "", **more: Any) -> About:
    return About(BreachKind(kind), type_, **more)


LOST = {
    "rule": "wire/x/announced",
    "event": 3,
    "about": about("order", "item.delta", lacks=("item.added",)),
}
LOST_IN_ORDER = {
    "rule": "wire/x/in-order",
    "event": 9,
    "about": about("order", "item.done", lacks=("item.added",)),
}
LATE = {
    "rule": "wire/x/last",
    "event": 20,
    "about": about("late", "item.added", behind=("completed", 19)),
}
UNREAD = {
    "rule": "wire/sse/data-is-json",
    "event": 5,
    "about": about("event", "sse.frame", fields=(("json", None),)),
}
HOLE = {
    "rule": "wire/x/sequence-rises",
    "event": 6,
    "about": about("number", "item.delta", fields=(("number", "6"),), behind=("item.delta", 4)),
}
DIFFERS = {
    "rule": "wire/x/agrees",
    "event": 9,
    "about": about("texts", "item.done", beside=("item.delta",)),
}
RESTATED = {
    "rule": "wire/x/output",
    "event": 12,
    "about": about("texts", "completed", beside=("item.done",)),
}
WRONG = {
    "rule": "wire/x/fields",
    "event": 3,
    "about": about("field", "item.added", fields=(("item.type", None),)),
}
BEHIND_WRONG = {
    "rule": "wire/x/of-its-kind",
    "event": 7,
    "about": about("late", "item.delta", behind=("item.added", 3)),
}
UNENDED = {
    "rule": "wire/x/closed",
    "event": 30,
    "about": about("order", lacks=("item.done",), behind=("item.added", 20)),
}
CHARACTERS = {
    "rule": "thinking/stream/characters-whole",
    "event": 4,
    "level": Level.SHOULD,
    "about": about("marked"),
}
FLAGGED = {
    "rule": "wire/x/announced-before",
    "event": 8,
    "about": about("event", "item.delta", fields=(("unannounced", "True"),)),
}
OUT_OF_ORDER = {
    "rule": "wire/x/seq-rises",
    "event": 20,
    "about": about("field", "item.start", fields=(("seq", "4"),), behind=("completed", 19)),
}
UNNAMED = {
    "rule": "wire/x/event-lines",
    "event": 4,
    "about": about("event", "sse.frame", fields=(("json.type", "item.delta"),)),
}
COUNTED = {
    "rule": "wire/x/index-counts",
    "event": 4,
    "about": about(
        "number",
        "item.added",
        lacks=("item.added",),
        beside=("item.added",),
        fields=(("index", "2"),),
    ),
}

AMBIGUOUS = {
    "rule": "wire/x/message-known",
    "event": 8,
    "about": about(
        "event", "item.text", beside=("item.done", "item.text"), fields=(("ambiguous", "True"),)
    ),
}

OPENED_AGAIN = {
    "rule": "wire/x/open-once",
    "event": 5,
    "slice": {"id": "a"},
    "about": about("order", "text_START", lacks=("text_END",), behind=("text_START", 3)),
}
OTHER_OPENED_AGAIN = {
    "rule": "wire/x/calls-open-once",
    "event": 9,
    "slice": {"id": "b"},
    "about": about("order", "call_START", lacks=("call_END",), behind=("call_START", 7)),
}
COUNTED_BACK = {
    "rule": "wire/x/index-contiguous",
    "event": 9,
    "expected": ("1",),
    "got": "0",
    "about": about("number", "call_START", beside=("call_START",), behind=("call_START", 7)),
}
SPLIT = {
    "rule": "thinking/stream/not-split",
    "event": 7,
    "level": Level.SHOULD,
    "about": about("event", "thinking.delta", fields=(("split", "True"),)),
}
CUT_SHORT = {
    "rule": "wire/x/call-json",
    "event": 9,
    "about": about("texts", behind=("tool.delta", 3)),
}

# An earlier finding and a later one, and which of both follows from the other.
PAIRS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("one type is missing", LOST, LOST_IN_ORDER, "later"),
    ("it is missing in every slice", {**LOST, "slice": {"i": 0}}, LOST_IN_ORDER, "later"),
    ("it comes too late", LOST, LATE, "later"),
    ("an item that comes too late is not ended", LATE, UNENDED, "later"),
    ("it could be read in part only", WRONG, LOST_IN_ORDER, "later"),
    (
        "another part of the stream",
        {**WRONG, "slice": {"i": 0}, "about": about("field", "chunk", fields=(("x", None),))},
        {**LOST_IN_ORDER, "slice": {"i": 1}, "about": about("order", lacks=("chunk",))},
        "",
    ),
    ("what comes behind an event that is wrong", WRONG, BEHIND_WRONG, "later"),
    ("a frame that nobody could read leaves a hole", UNREAD, HOLE, "later"),
    ("and what was in it is missing", UNREAD, LOST_IN_ORDER, "later"),
    ("a hole in the numbers is what is missing", HOLE, DIFFERS, "later"),
    ("a text is wrong in its own event", DIFFERS, RESTATED, "later"),
    ("letters that are wrong in the deltas alone differ", CHARACTERS, DIFFERS, "earlier"),
    ("an event that fell apart", {**UNREAD, "event": 4}, UNREAD, "later"),
    ("a reader says that a part was not opened", LOST, FLAGGED, "later"),
    ("its start came too late", FLAGGED, OUT_OF_ORDER, "later"),
    (
        "a frame without a name is one of those that it fell apart into",
        UNREAD,
        {**UNNAMED, "event": 6},
        "later",
    ),
    ("but leaves no hole", {**UNNAMED, "event": 2}, HOLE, ""),
    ("a number too high is an event that is lost", COUNTED, LOST_IN_ORDER, "later"),
    ("an event as wrong as the first of its kind", AMBIGUOUS, UNENDED, "later"),
    ("another answer", {**UNREAD, "unit": "turn", "answers": (2,)}, HOLE, ""),
    (
        "a part under two ids",
        {**LOST, "slice": {"id": "a"}},
        {**UNENDED, "slice": {"id": "b"}, "about": about("order", lacks=("item.done",))},
        "later",
    ),
    ("every start comes again", OPENED_AGAIN, OTHER_OPENED_AGAIN, "later"),
    ("each with its number", OPENED_AGAIN, COUNTED_BACK, "later"),
    ("a number too high is no start again", OPENED_AGAIN, {**COUNTED_BACK, "got": "2"}, ""),
    ("and begins another block", OPENED_AGAIN, SPLIT, "later"),
    ("and cuts off what was said before it", OPENED_AGAIN, CUT_SHORT, "later"),
    (
        "not what ends elsewhere",
        OPENED_AGAIN,
        {**CUT_SHORT, "about": about("texts", behind=("tool.delta", 4))},
        "",
    ),
    ("what a request asks", LOST, {**LOST_IN_ORDER, "rule": "effort/x/known"}, ""),
    (
        "another type",
        LOST,
        {**LOST_IN_ORDER, "about": about("order", "x", lacks=("part.added",))},
        "",
    ),
]


@each_row(PAIRS)
def test_findings_of_one_event(
    name: str, earlier: dict[str, Any], later: dict[str, Any], follows: str
) -> None:
    found = [plain_finding(**earlier), plain_finding(**later)]
    wanted = {"later": [[], [0]], "earlier": [[1], []], "": [[], []]}
    assert list(direct_causes(found)) == wanted[follows], name
