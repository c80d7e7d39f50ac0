"""Texts of SGLang: what is new in each, which way they grow, and why they ended."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import pytest

from conformance import dialects
from conformance.core.events import Event
from conformance.core.reading import Reading
from tests.authoring.sglang import texts
from tests.dialects.payloads import read_payloads, texts_of

DIALECT: Final = dialects.get("sglang.generate")
MARKED: Final = Reading(markers=(("<think>", "</think>"),))
PIECES: Final = ["<th", "ink>Ebb.", "</think>", "At ", "seven."]


read = partial(read_payloads, "sglang.generate", reading=MARKED)


def streamed(*pieces: str, **more: Any) -> list[Any]:
    return [each.payload for each in texts(list(pieces), **more)[:-1]]


def wire_values(events: list[Event], key: str) -> list[Any]:
    return [each.data[key] for each in events if each.layer == "wire" and key in each.data]


@pytest.mark.parametrize(
    ("more", "mode"),
    [({}, "whole"), ({"has_ids": False}, "whole"), ({"in_pieces": True}, "piece")],
)
def test_a_text_says_what_is_new(more: Any, mode: str) -> None:
    events = read(*streamed(*PIECES, **more))
    assert (texts_of(events, "thinking.delta"), texts_of(events, "text.delta")) == (
        "Ebb.",
        "At seven.",
    )
    assert set(wire_values(events, "mode")) == {mode}
    assert [each.type for each in events][-1] == "done"


def test_a_text_so_far_that_is_another_one_strays() -> None:
    payloads = streamed("At ", "seven.")
    payloads[-1]["text"] = "No."
    events = read(*payloads)
    assert wire_values(events, "strays") == [True]
    assert texts_of(events, "text.delta") == "At "


def test_repeated_piece_is_new() -> None:
    assert texts_of(read(*streamed("ha", "ha", in_pieces=True)), "text.delta") == "haha"


@pytest.mark.parametrize("kind", ["stop", "length"])
def test_the_reason_to_finish_is_an_object(kind: str) -> None:
    events = read(*streamed("At seven.", reason={"type": kind}))
    assert [each.data["reason"] for each in events if each.type == "finish"] == [kind]


def test_an_answer_that_is_aborted_has_failed() -> None:
    events = read(*streamed("At ", reason={"type": "abort", "message": "away"}))
    error = next(each for each in events if each.type == "error")
    assert (error.data["code"], error.data["message"]) == ("abort", "away")


def test_thinking_that_nobody_counts_is_not_counted_as_none() -> None:
    usage = [e.data for e in read(*streamed("a", reasoning_tokens=0)) if e.type == "usage"]
    assert usage == [{"choice": 0, "input": 7, "output": 1}]


def test_only_the_first_of_several_answers_is_followed() -> None:
    first, second = streamed("One.")[0], {**streamed("Two.")[0], "index": 1}
    assert texts_of(read(second, {**first, "index": 0}), "text.delta") == "One."


@pytest.mark.parametrize("listed", [True, False])
def test_a_whole_answer_is_read(listed: bool) -> None:
    body = streamed("<think>Ebb.</think>At seven.")[0]
    events = read([body] if listed else body, kind="body")
    assert (texts_of(events, "thinking.delta"), texts_of(events, "text.delta")) == (
        "Ebb.",
        "At seven.",
    )
    assert events[-1].type == "done"
