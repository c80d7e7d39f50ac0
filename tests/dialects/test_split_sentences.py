"""A sentence of thinking that is split into several blocks (`blocks`, rule 6)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from conformance import check_chunks
from conformance.dialects.blocks import Blocks
from conformance.dialects.sink import Sink
from conformance.judging.checker import Checker
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
def test_third_block_of_one_sentence_is_split(texts: Sequence[str], expected: list[int]) -> None:
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


RULES = {"thinking/stream/tail-kept": "tail", "stripping/visible-text/no-tag-piece": "piece"}
Fields = dict[str, Any]


def chat(delta: Fields, finish: str | None = None) -> Fields:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def ollama(message: Fields, finish: str | None = None) -> Fields:
    line: Fields = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
    spoken = {"role": "assistant", "content": "", **message}
    end = {"done": True, "done_reason": finish} if finish else {"done": False}
    return {**line, "message": spoken, **end}


def of_chat(*chunks: tuple[str, str, str | None]) -> set[str]:
    keys = {"thinking": "reasoning_content", "text": "content"}
    events = [chat({keys[kind]: text}, finish) for kind, text, finish in chunks]
    stream = "".join(f"data: {json.dumps(each)}\n\n" for each in events) + "data: [DONE]\n\n"
    return found("openai.chat", stream)


def of_ollama(*chunks: tuple[str, str, str | None]) -> set[str]:
    keys = {"thinking": "thinking", "text": "content"}
    lines = [ollama({keys[kind]: text}, finish) for kind, text, finish in chunks]
    return found("ollama.chat", "".join(f"{json.dumps(each)}\n" for each in lines))


def found(dialect: str, stream: str) -> set[str]:
    findings = Checker(dialect).check([stream.encode()]).findings
    return {RULES[each.rule] for each in findings if each.rule in RULES}


FLUSHED = {
    "the last word": ("Two and two make", " four.", {"tail"}),
    "within a word": ("Two and two ma", "ke four.", {"tail"}),
    "behind a comma, and a space": ("Two, ", "and two.", {"tail"}),
    "a piece of a marker": ("Two and two make four.\n", "</thi", {"piece"}),
    "one character of it": ("Two and two make four.", "<", {"piece"}),
    "a short answer": ("Two and two make four.", "4", set()),
    "behind a line end": ("Two and two make four\n", "4", set()),
    "markup of its own": ("A heading will do.", "<b>4</b>", set()),
}


@pytest.mark.parametrize("reason", ["stop", "length"])
@pytest.mark.parametrize(("thought", "text", "expected"), FLUSHED.values(), ids=FLUSHED)
def test_text_with_the_finish(thought: str, text: str, expected: set[str], reason: str) -> None:
    assert of_chat(("thinking", thought, None), ("text", text, reason)) == expected
    assert of_ollama(("thinking", thought, None), ("text", text, reason)) == expected


def test_text_that_was_begun_before_is_no_flush() -> None:
    begun = [("thinking", "Two and two make", None), ("text", "It", None)]
    assert of_chat(*begun, ("text", " is four.", "stop")) == set()


def test_a_whole_body_brings_all_at_once() -> None:
    message = {"role": "assistant", "reasoning_content": "Two and two make", "content": "four."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    assert found("openai.chat", json.dumps({**body, "choices": [choice]})) == set()
