"""Tokens of TGI: what they say, what the whole text repeats, and why it ended."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import pytest

from conformance import dialects
from conformance.core.events import Event, Frame
from conformance.core.reading import Reading
from tests.authoring.tgi import TEXT, tokens
from tests.dialects.payloads import read_payloads, texts_of, types_of

DIALECT: Final = dialects.get("huggingface.tgi")
MARKED: Final = Reading(markers=(("<think>", "</think>"),))


read = partial(read_payloads, "huggingface.tgi", reading=MARKED)


def streamed(pieces: list[str], **more: Any) -> list[Event]:
    return read(*(each.payload for each in tokens(pieces, **more)))


def test_thinking_stands_between_the_markers() -> None:
    events = streamed(["<th", "ink>Fog.", "</think>", "It is on."])
    assert (texts_of(events, "thinking.delta"), texts_of(events, "text.delta")) == (
        "Fog.",
        "It is on.",
    )
    assert types_of(events)[-3:] == ["finish", "usage", "done"]


def test_a_special_token_is_no_text() -> None:
    events = streamed(["On."])
    assert texts_of(events, "text.delta") == "On."
    assert [each.data["agrees"] for each in events if each.type == "tgi.last"] == [True]


@pytest.mark.parametrize(
    ("before", "whole", "agrees"), [("", "On.", True), ("Q? ", "On.", True), ("", "Off.", False)]
)
def test_the_whole_text_may_begin_with_the_prompt(before: str, whole: str, agrees: bool) -> None:
    payloads = [each.payload for each in tokens([" On."], before=before)]
    payloads[-1]["generated_text"] = before + whole
    events = read(*payloads)
    assert [each.data["agrees"] for each in events if each.type == "tgi.last"] == [agrees]


@pytest.mark.parametrize(
    ("stated", "reason"), [("length", "length"), ("eos_token", "stop"), ("stop_sequence", "stop")]
)
def test_the_details_say_why_it_ended(stated: str, reason: str) -> None:
    events = streamed([TEXT], end="", finish_reason=stated)
    assert [each.data["reason"] for each in events if each.type == "finish"] == [reason]


def test_without_details_it_is_done_all_the_same() -> None:
    assert types_of(streamed([TEXT], details=False))[-1] == "done"
    assert types_of(read(tokens([TEXT])[0].payload))[-1] == "cut"


def test_an_error_says_its_type() -> None:
    events = read({"error": "down", "error_type": "generation"})
    error = next(each for each in events if each.type == "error")
    assert (error.data["code"], error.data["message"]) == ("generation", "down")


@pytest.mark.parametrize("listed", [True, False])
def test_a_whole_answer_is_read(listed: bool) -> None:
    details = {"finish_reason": "length", "generated_tokens": 3}
    body = {"generated_text": "<think>Fog.</think>On.", "details": details}
    events = read([body] if listed else body, kind="body")
    assert texts_of(events, "thinking.delta") == "Fog."
    assert types_of(events)[-3:] == ["finish", "usage", "done"]
    assert DIALECT.recognises(Frame("body", "", "", "", 0), [body] if listed else body)
