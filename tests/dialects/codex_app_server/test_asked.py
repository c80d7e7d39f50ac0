"""What a client asked an app server, and the responses, turns and messages that have to agree."""

from __future__ import annotations

from typing import Any, Final

import pytest

from conformance.dialects.codex_app_server.asked import AskedTurns

START: Final[dict[str, Any]] = {
    "id": 3,
    "params": {"threadId": "a", "input": [{"type": "text", "text": "What is peat?"}]},
}


def begun() -> AskedTurns:
    asked = AskedTurns()
    asked.ask("turn/start", START, by_client=True)
    return asked


def answer(turn: str, number: int = 3) -> dict[str, Any]:
    return {"id": number, "result": {"turn": {"id": turn}}}


def test_a_response_answers_what_waits() -> None:
    asked = begun()
    assert asked.respond(answer("t1", 4)) == {"request_known": False}
    assert asked.respond(answer("t1")) == {"request_known": True}
    assert asked.respond(answer("t1")) == {}  # of a request before the transcript
    asked.ask("item/tool/requestUserInput", {"id": 0}, by_client=False)
    assert asked.respond({"id": 0, "result": {}}) == {"request_known": True}


@pytest.mark.parametrize(("name", "is_same"), [("t1", True), ("t2", False)])
def test_a_turn_has_the_id_of_its_response(name: str, is_same: bool) -> None:
    early, late = begun(), begun()
    early.respond(answer("t1"))
    assert early.start("a", name) == {"as_answered": is_same}
    assert late.start("a", name) == {}
    assert late.respond(answer("t1")) == {"request_known": True, "as_answered": is_same}
    assert begun().start("b", "t9") == {}


@pytest.mark.parametrize(
    ("text", "is_same"), [("What is peat?", True), ("[note] What is peat?", True), ("Hm?", False)]
)
def test_the_first_message_of_a_turn_is_its_input(text: str, is_same: bool) -> None:
    asked = begun()
    said = {"content": [{"type": "text", "text": text}]}
    assert asked.hear("a", said) == {"as_asked": is_same}
    assert asked.hear("a", said) == {}  # what steers a turn comes later


def test_of_an_id_one_request_of_each_side_waits() -> None:
    asked = begun()
    for by_client in (False, True, True):
        asked.ask("item/tool/requestUserInput", {"id": 3}, by_client=by_client)
    known = [asked.respond({"id": 3, "result": {}}) for _ in range(3)]
    assert known == [{"request_known": True}, {"request_known": True}, {}]


def test_the_beginning_of_a_long_input_is_compared() -> None:
    asked, text = AskedTurns(), "peat " * 2_000
    long = {"id": 3, "params": {"threadId": "a", "input": [{"type": "text", "text": text}]}}
    asked.ask("turn/start", long, by_client=True)
    assert asked.hear("a", {"content": [{"type": "text", "text": text}]}) == {"as_asked": True}
