from __future__ import annotations

from typing import Any

from conformance.judging.lineage import direct_causes
from conformance.rules.verdicts import Level
from tests.each import each_row
from tests.plain_results import plain_finding

LOST = {
    "rule": "wire/x/announced",
    "event": 3,
    "expected": ("item.added (item.type text)",),
    "got": "item.delta",
    "message": "item.delta came without an earlier item.added (item.type text)",
}
LOST_IN_ORDER = {
    "rule": "wire/x/in-order",
    "event": 9,
    "expected": ("item.added", "end of stream"),
    "got": "item.done",
    "message": "expected item.added or end of stream first, got item.done",
}
LATE = {
    "rule": "wire/x/last",
    "event": 20,
    "expected": (),
    "got": "item.added",
    "after": "completed (event 19)",
    "message": "item.added came after completed (event 19)",
}
UNREAD = {
    "rule": "wire/sse/data-is-json",
    "event": 5,
    "expected": (),
    "message": "sse.frame with json absent may not occur",
}
HOLE = {
    "rule": "wire/x/sequence-rises",
    "event": 6,
    "expected": ("5",),
    "got": "6",
    "message": "sequence_number of item.delta: expected 5, got 6 (after item.delta (event 4))",
}
DIFFERS = {
    "rule": "wire/x/agrees",
    "event": 9,
    "expected": (),
    "message": "text of item.done differs from the 4 item.delta joined at character 1: joined 'a'",
}
RESTATED = {
    "rule": "wire/x/output",
    "event": 12,
    "expected": (),
    "message": "output of completed differs from 2 item.done at 0 (character 1): streamed 'a'",
}
WRONG = {
    "rule": "wire/x/fields",
    "event": 3,
    "expected": ("a value",),
    "got": "nothing",
    "message": "item.type of item.added: expected a value, got nothing",
}
BEHIND_WRONG = {
    "rule": "wire/x/of-its-kind",
    "event": 7,
    "expected": (),
    "got": "item.delta",
    "after": "item.added (event 3)",
    "message": "item.delta came after item.added (event 3)",
}
UNENDED = {
    "rule": "wire/x/closed",
    "event": 30,
    "expected": ("item.done",),
    "got": "end of stream",
    "after": "item.added (event 20)",
    "message": "expected item.done after item.added (event 20), got end of stream",
}
CHARACTERS = {
    "rule": "thinking/stream/characters-whole",
    "event": 4,
    "level": Level.SHOULD,
    "expected": ("text without it",),
    "message": "U+FFFD in text",
}

FLAGGED = {
    "rule": "wire/x/announced-before",
    "event": 8,
    "expected": (),
    "got": "item.delta",
    "message": "item.delta with unannounced true may not occur",
}
OUT_OF_ORDER = {
    "rule": "wire/x/seq-rises",
    "event": 20,
    "expected": ("above 19",),
    "got": "4",
    "after": "completed (event 19)",
    "message": "seq of item.start: expected above 19, got 4 (after completed (event 19))",
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
        {**WRONG, "slice": {"i": 0}, "message": "x of chunk: expected a value, got nothing"},
        {**LOST_IN_ORDER, "slice": {"i": 1}, "expected": ("chunk",), "got": "end of stream"},
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
    ("another answer", {**UNREAD, "unit": "turn", "answers": (2,)}, HOLE, ""),
    (
        "a part under two ids",
        {**LOST, "slice": {"id": "a"}},
        {**UNENDED, "slice": {"id": "b"}, "after": ""},
        "later",
    ),
    ("what a request asks", LOST, {**LOST_IN_ORDER, "rule": "effort/x/known"}, ""),
    ("another type", LOST, {**LOST_IN_ORDER, "expected": ("part.added",), "got": "x"}, ""),
]


@each_row(PAIRS)
def test_findings_of_one_event(
    name: str, earlier: dict[str, Any], later: dict[str, Any], follows: str
) -> None:
    found = [plain_finding(**earlier), plain_finding(**later)]
    wanted = {"later": [[], [0]], "earlier": [[1], []], "": [[], []]}
    assert list(direct_causes(found)) == wanted[follows], name
