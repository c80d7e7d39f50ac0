"""Lanes hold the end of what was said, and when."""

from __future__ import annotations

from conformance.core.events import Event
from conformance.watching.lanes import CELLS, LaneTails


def add(lanes: LaneTails, ms: float, kind: str, **data: object) -> None:
    lanes.ms = ms
    lanes.take([Event(kind, data, 1, "semantic")])


def test_lanes_keep_the_end_and_count_the_whole() -> None:
    lanes = LaneTails()
    for number in range(1000):
        add(lanes, number, "thinking.delta", text=f"{number:04}")
    add(lanes, 1000, "thinking.delta", text="ab", channel="summary")
    add(lanes, 1001, "text.delta", text="x" * 5000)
    kept = {lane: (tail.size, len(tail.text)) for lane, tail in lanes.lanes.items()}
    assert kept == {
        "thinking": (4000, 1000),
        "summary": (2, 2),
        "text": (5000, 1000),
        "tools": (0, 0),
    }
    assert lanes.lanes["thinking"].text.endswith("09980999")


def test_calls_are_counted_and_their_arguments_grow() -> None:
    lanes = LaneTails()
    add(lanes, 0, "tool.start", name="one", index=0)
    add(lanes, 1, "tool.delta", arguments='{"a":', index=0)
    add(lanes, 2, "tool.delta", arguments="1}", index=0)
    add(lanes, 3, "tool.start", index=1)
    assert (lanes.lanes["tools"].size, lanes.lanes["tools"].text) == (2, 'one {"a":1}  ? ')


def test_time_is_drawn_over_the_whole_answer_however_long_it_is() -> None:
    lanes = LaneTails()
    for second in range(1024):
        add(lanes, second * 1024, "thinking.delta" if second < 512 else "text.delta", text="a")
    whole = 1024.0 * 1024
    assert lanes.cell_ms * CELLS >= whole
    assert lanes.busy_cells("thinking", 4, whole) == [True, True, False, False]
    assert lanes.busy_cells("text", 4, whole) == [False, False, True, True]
    assert lanes.busy_cells("tools", 4, whole) == [False] * 4


def test_a_pause_is_shown_and_a_short_silence_is_none() -> None:
    lanes = LaneTails()
    for ms in (0, 900, 5056, 5900):
        add(lanes, ms, "text.delta", text="a")
    assert lanes.busy_cells("text", 6, 6000.0) == [True, False, False, False, False, True]
