"""A piece of another answer accuses by a word of the other request, and by nothing less."""

from __future__ import annotations

import json

import pytest

from conformance.core.events import Request
from conformance.runs.foreign_pieces import LoneAnswer, foreign_pieces, request_text, shows_in

LAMPS = LoneAnswer("lamps", "Street lamps are lit at dusk.", "When are street lamps lit?")
SUM = LoneAnswer("sum", "Two and two is four, surely.", "What is two and two?")
SHOUTED = LoneAnswer("shouted", "wHEN ARE STREET LAMPS LIT?", "When are street lamps lit?")
NUMBERS = LoneAnswer("numbers", "7 + 12 = 19, as I said.", "Add 7 + 12")


@pytest.mark.parametrize(
    ("answer", "other", "owner"),
    [
        ("Two and lamps are lit at dusk.", LAMPS, "lamps"),
        ("Two and tREET LAMPS LIT?", SHOUTED, "shouted"),
        ("Two and two: 7 + 12 = 19", NUMBERS, "numbers"),
        # What a model says otherwise under load may be what another one was answered, too.
        ("It is four, as I said.", NUMBERS, ""),
        ("Two and two is four, surely.", LAMPS, ""),
        ("Four at dusk.", LAMPS, ""),
        ("It are lit", LAMPS, "lamps"),
    ],
)
def test_piece_accuses_by_word_of_other_request(answer: str, other: LoneAnswer, owner: str) -> None:
    found = foreign_pieces(answer, SUM.question, SUM, [other])
    assert [each.owner for each in found] == ([owner] if owner else [])


def test_what_the_accused_request_says_itself_accuses_nobody() -> None:
    """Its history holds the calls that it answers."""
    other = LoneAnswer("calls", 'calculator({"expression": "4 + 5"})', "Add 2 + 3, then 4 + 5")
    own = LoneAnswer("follow-up", 'calculator({"expression": "44 + 5"})', "")
    arguments = json.dumps({"expression": "4 + 5"})
    call = {"function": {"name": "calculator", "arguments": arguments}}
    asked = request_text(Request(json={"messages": [{"role": "assistant", "tool_calls": [call]}]}))
    answer = 'calculator({"expression": "44 + 5"}) 4 + 5"})'
    assert list(foreign_pieces(answer, asked, own, [other])) == []
    assert list(foreign_pieces('I said ": "4 + 5', "", own, [other]))


def test_an_answer_that_says_nothing_of_its_request_tells_nothing() -> None:
    assert shows_in(SUM, LAMPS)
    assert not shows_in(SUM, LoneAnswer("vague", "That depends, I would say.", "Is it so?"))


def test_strings_within_strings_are_reported_too() -> None:
    body = {"input": '{"a": ["deep", {"b": "deeper"}]}', "n": 1, "tools": [["x"]]}
    assert {"deep", "deeper", "x"} <= set(request_text(Request(json=body)).split())
    assert request_text(None) == ""
