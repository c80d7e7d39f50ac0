from __future__ import annotations

from typing import Any

from conformance.judging.lineage import direct_causes, event_order
from conformance.rules.about import About, BreachKind, Change
from conformance.rules.verdicts import Level, Verdict
from tests.each import each_row
from tests.plain_results import plain_finding

INDEX = About(BreachKind.FIELD, "item.added", fields=(("output_index", "-1"),))
MISSING = About(BreachKind.FIELD, "text.delta", fields=(("part_index", None),))
MARKED = {"got": "'<think>'", "about": About(BreachKind.MARKED), "event": 1}
NO_THINKING = About(BreachKind.ORDER, lacks=("thinking.delta",))
LOST, ALTERED = About(change=Change.LOST), About(change=Change.BEGINNING)

# An earlier finding and a later one, and whether the later one follows.
PAIRS: list[tuple[str, dict[str, Any], dict[str, Any], bool]] = [
    ("one event", {"event": 3}, {"event": 3}, True),
    ("another event", {"event": 3}, {"event": 4}, False),
    ("one slice", {"slice": {"index": 1}}, {"event": 4, "slice": {"index": 1}}, False),
    (
        "a broken value",
        {"about": INDEX},
        {"event": 4, "slice": {"output_index": -1}},
        True,
    ),
    (
        "another value",
        {"about": INDEX},
        {"event": 4, "slice": {"output_index": 0}},
        False,
    ),
    (
        "what was expected",
        {"about": INDEX},
        {"event": 4, "slice": {"output_index": 1}},
        False,
    ),
    (
        "one value said twice",
        {"about": INDEX},
        {"event": 4, "about": About(BreachKind.EVENT, "part", fields=(("output_index", "-1"),))},
        True,
    ),
    ("a missing field", {"about": MISSING}, {"event": 4, "slice": {"part_index": 0}}, True),
    (
        "a missing field named",
        {"about": MISSING},
        {
            "event": 4,
            "about": About(BreachKind.NUMBER, "text.done", fields=(("part_index", "4"),)),
        },
        True,
    ),
    (
        "a marker in the text is the thinking that never came",
        MARKED,
        {"event": 9, "about": NO_THINKING},
        True,
    ),
    (
        "so is what an application lost of it",
        MARKED,
        {"event": 9, "rule": "hop/thinking", "about": LOST},
        True,
    ),
    (
        "thinking that was changed is not",
        MARKED,
        {"event": 9, "rule": "hop/thinking", "about": ALTERED},
        False,
    ),
    (
        "nothing is thought before a marker that closes thinking where the text begins",
        {**MARKED, "about": About(BreachKind.MARKED, opens=True)},
        {"event": 9, "about": NO_THINKING},
        False,
    ),
    (
        "another text is not",
        {**MARKED, "got": "'sk-1'"},
        {"event": 9, "about": NO_THINKING},
        False,
    ),
    (
        "what a gateway asked is no matter of how its answer ended",
        {"event": 9, "got": "end of stream"},
        {"event": 9, "rule": "scenario/asked-limit"},
        False,
    ),
    (
        "nor is what it asked for else",
        {"event": 9, "rule": "scenario/asked-effort"},
        {"event": 9, "rule": "scenario/asked-history"},
        False,
    ),
    (
        "nor is a stream where a body was asked for",
        {"event": 9, "rule": "scenario/thinking", "got": "none"},
        {"event": 9, "rule": "scenario/body-as-asked", "got": "a stream"},
        False,
    ),
    (
        "words that are others are not due to it",
        {"event": 9, "got": "end of stream"},
        {"event": 9, "rule": "scenario/hop-text", "about": ALTERED},
        False,
    ),
    (
        "words that are lost may be",
        {"event": 9, "got": "end of stream"},
        {"event": 9, "rule": "scenario/hop-text", "about": LOST},
        True,
    ),
    (
        "and so may calls",
        {"event": 9, "rule": "scenario/ending"},
        {"event": 9, "rule": "scenario/hop-tools", "about": LOST},
        True,
    ),
    (
        "an end that was made up follows from nothing",
        {"event": 9, "got": "end of stream"},
        {
            "event": 9,
            "rule": "scenario/ending",
            "expected": ("failed", "cut"),
            "got": "complete",
        },
        False,
    ),
    (
        "text and thinking are altered in one way",
        {"event": 9, "rule": "scenario/hop-text", "about": ALTERED},
        {"event": 9, "rule": "scenario/hop-thinking", "about": ALTERED},
        True,
    ),
    (
        "what a request brings back is no matter of what else it asks for",
        {"event": 0, "rule": "effort/messages/budget-below-max"},
        {"event": 0, "rule": "history/messages/signed-unchanged"},
        False,
    ),
    (
        "one turn may break several rules",
        {"event": 0, "rule": "history/messages/blocks-in-order"},
        {"event": 0, "rule": "history/messages/signed-unchanged"},
        True,
    ),
    ("nothing mild is a cause", {"level": Level.SHOULD}, {"event": 1}, False),
    ("mild may follow", {}, {"event": 1, "level": Level.SHOULD}, True),
    ("our own fault is no cause", {"verdict": Verdict.ERROR}, {"event": 1}, False),
    ("our own fault has no cause", {}, {"event": 1, "verdict": Verdict.ERROR}, False),
]


@each_row(PAIRS)
def test_what_follows(
    name: str, earlier: dict[str, Any], later: dict[str, Any], follows: bool
) -> None:
    found = [plain_finding(**earlier), plain_finding(**later)]
    assert list(direct_causes(found)) == [[], [0] if follows else []], name


def test_the_surest_sign_comes_first() -> None:
    named = plain_finding(about=INDEX)
    extra = plain_finding(event=4)
    later = plain_finding(event=4, slice={"output_index": -1})
    assert list(direct_causes([named, extra, later]))[2] == [0, 1]


def test_on_one_event_the_gravest_and_then_the_widest_leads() -> None:
    narrow, wide = plain_finding(slice={"index": 0}), plain_finding()
    mild, fault = plain_finding(level=Level.MAY), plain_finding(verdict=Verdict.ERROR)
    late = plain_finding(event=2, verdict=Verdict.ERROR)
    ordered = sorted([late, mild, narrow, wide, fault], key=event_order)
    assert ordered == [fault, wide, narrow, mild, late]


def test_what_broke_the_order_leads() -> None:
    differs, misplaced = plain_finding(rule="a/a/a"), plain_finding(after="text.delta (event 0)")
    assert sorted([differs, misplaced], key=event_order) == [misplaced, differs]
