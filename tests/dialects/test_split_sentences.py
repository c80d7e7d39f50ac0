"""A sentence of thinking that is split into several blocks (`blocks`, rule 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from conformance import check_chunks
from conformance.dialects.blocks import Blocks
from conformance.dialects.sink import Sink
from tests.evidence.two_hops import sse

RULE = "thinking/stream/not-split"


def split(*texts: str, gap: int = 2) -> list[int]:
    """Which blocks are split, if each text is a block; so many frames lie between two."""
    sink = Sink()
    blocks = Blocks(0, sink)
    found = []
    for number, text in enumerate(texts):
        sink.begin(gap * number)
        block = blocks.think("raw", explicit=True)
        blocks.thought(block, "raw", text)
        found += [number for event in sink.semantic if event.data.get("split")]
        blocks.close(block, explicit=True)
    return found


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["Two ", "roads ", "lead ", "there."], [2, 3]),
        (["Two", " roads", " lead", " there."], [2, 3]),
        (["Two roads", "lead there", "and back."], [2]),
        (["So, ", "Anna ", "asks."], [2]),
        (["二つの", "道が", "ある。"], [2]),
        # Two blocks may be one that was interrupted, and a new sentence or a title is no rest.
        (["Two ", "roads lead there."], []),
        (["Two roads.", "They meet.", "So left."], []),
        (["**Two roads**", "**They meet**", "**Left**"], []),
        (["Reading the map", "Comparing roads", "Choosing one"], []),
        (["Two roads:\n", "1. left", "2. right"], []),
        (["Two ", "roads. ", "They ", "meet."], []),
    ],
)
def test_the_third_block_of_one_sentence_is_split(
    texts: Sequence[str], expected: list[int]
) -> None:
    assert split(*texts) == expected


def test_what_comes_between_two_blocks_parts_them() -> None:
    assert split("Two ", "roads ", "lead ", "there.", gap=5) == []


def test_white_space_and_text_part_no_sentence_and_begin_no_block() -> None:
    sink = Sink()
    blocks = Blocks(0, sink)
    for text in ("Two ", "roads ", "lead"):
        block = blocks.think("raw")
        blocks.thought(block, "raw", "\n")
        blocks.thought(block, "raw", text)
    assert [each.data["text"] for each in sink.semantic if each.data.get("split")] == ["lead"]


@pytest.mark.parametrize("count", [2, 3, 5, 40])
def test_blocks_of_many_deltas_are_known_by_their_last_words(count: int) -> None:
    """A run of deltas is read at once; the sentence ends in each block."""
    events: list[Any] = [{"type": "start"}, {"type": "start-step"}]
    for number in range(4):
        place = {"id": f"r{number}"}
        deltas = [*["the road "] * (count - 1), "ends. "]
        events += [
            {"type": "reasoning-start", **place},
            *({"type": "reasoning-delta", **place, "delta": each} for each in deltas),
            {"type": "reasoning-end", **place},
        ]
    events += [{"type": "finish-step"}, {"type": "finish"}]
    report = check_chunks([sse(events).encode()], dialect="vercel.ui", profile="strict")
    assert RULE not in {each.rule for each in report.findings}
