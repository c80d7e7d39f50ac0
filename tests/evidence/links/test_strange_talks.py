"""Recordings in which conversations are mixed, doubled, cut, or not even lists."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance.core.events import Exchange
from conformance.judging.result import StreamResult
from conformance.rules.verdicts import Verdict
from tests.evidence.links import edits
from tests.evidence.links.talks import (
    TALKERS,
    Talker,
    broken,
    checked,
    history_of,
    seal,
    talk,
    thought,
    with_history,
)

NAMES: Final = ("messages", "responses", "deepseek", "openrouter", "google", "gemini")
LOST: Final = {
    "messages": (seal(1), "history/messages/signed-unchanged"),
    "responses": (seal(1), "history/responses/sealed-or-left-out"),
    "moonshot": (thought(1), "history/chat/kept-with-calls"),
    "openrouter": (seal(1), "history/chat/details-signed"),
    "gemini": (seal(1), "history/gemini/signed-unchanged"),
}
_NAMES_IN: Final = ("call0000", "rs_", "fc_", "msg_", "resp_", "chatcmpl-")


def numbered(exchanges: Sequence[Exchange]) -> list[Exchange]:
    return [replace(each, number=number) for number, each in enumerate(exchanges, 1)]


def another(talker: Talker) -> list[Exchange]:
    """The same talk with the same model once more: all ids and seals are others."""

    def body(turn: int) -> dict[str, Any]:
        text = json.dumps(talker.body(turn))
        for name in _NAMES_IN:
            text = text.replace(f'"{name}{turn}"', f'"{name}b{turn}"')
        made: dict[str, Any] = json.loads(text.replace(seal(turn), seal(turn + 4)))
        return made

    return talk(Talker(talker.dialect, talker.profile, body, talker.path, **talker.more))


def mixed(one: Sequence[Exchange], other: Sequence[Exchange]) -> list[Exchange]:
    return numbered([each for pair in zip(one, other, strict=True) for each in pair])


def carried(results: Sequence[StreamResult]) -> list[list[int]]:
    return [[link.exchange for link in each.links] for each in results]


def judged(name: str, exchanges: Sequence[Exchange]) -> list[StreamResult]:
    return checked(exchanges, TALKERS[name].dialect, TALKERS[name].profile)


@pytest.mark.parametrize("name", NAMES)
def test_two_sessions_with_one_question_are_distinguished(name: str) -> None:
    results = judged(name, mixed(talk(TALKERS[name]), another(TALKERS[name])))
    own = [[], [], [1], [2], [1, 3], [2, 4], [1, 3, 5], [2, 4, 6]]
    assert (broken(results), carried(results)) == (set(), own)
    assert [each.turn for each in results] == [1, 1, 2, 2, 3, 3, 4, 4]


@pytest.mark.parametrize("name", LOST)
def test_of_two_sessions_the_one_that_lost_something_is_named(name: str) -> None:
    leaf, rule = LOST[name]
    one, other = talk(TALKERS[name]), another(TALKERS[name])
    key = TALKERS[name].history
    one[2] = with_history(one[2], key, edits.lost(leaf)(history_of(one[2], key)))
    results = judged(name, mixed(one, other))
    found = [(each.exchange, f.rule) for each in results for f in each.findings]
    assert (5, rule) in found
    assert {exchange for exchange, each in found if each == rule} == {5}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("is_mixed", [False, True], ids=["behind", "interleaved"])
def test_a_session_that_was_recorded_twice_is_right(name: str, *, is_mixed: bool) -> None:
    first = talk(TALKERS[name])
    results = judged(name, mixed(first, first) if is_mixed else numbered([*first, *first]))
    assert broken(results) == set()
    turns = [1, 1, 2, 2, 3, 3, 4, 4] if is_mixed else [1, 2, 3, 4] * 2
    assert [each.turn for each in results] == turns


@pytest.mark.parametrize("name", ["responses", "interactions"])
def test_answers_that_were_mixed_up_are_known_by_their_ids(name: str) -> None:
    """Each request gets the answer to the other one; both conversations go on with their own."""
    pairs = mixed(talk(TALKERS[name]), another(TALKERS[name]))
    first, second = pairs[:2]
    answers = replace(first, chunks=second.chunks), replace(second, chunks=first.chunks)
    results = judged(name, numbered([*answers, *pairs[2:]]))
    assert (broken(results), carried(results)[2:4]) == (set(), [[2], [1]])


def with_ids_again(name: str) -> Talker:
    """Who answers the same question once more, with the same ids: servers number their calls."""
    talker = TALKERS[name]

    def body(turn: int) -> dict[str, Any]:
        text = json.dumps(talker.body(turn)).replace(thought(turn), thought(turn + 4))
        made: dict[str, Any] = json.loads(text.replace(seal(turn), seal(turn + 4)))
        return _with_two_calls(made)

    return Talker(talker.dialect, talker.profile, body, talker.path, **talker.more)


def _calls(body: dict[str, Any]) -> list[Any]:
    around = body.get("output", body.get("content", []))
    return [each for each in around if each["type"] in ("function_call", "tool_use")]


def _asking(call: dict[str, Any], hour: int) -> dict[str, Any]:
    """The call with another argument."""
    if "arguments" in call:
        return {**call, "arguments": json.dumps({"hour": hour})}
    return {**call, "input": {"hour": hour}}


def _with_two_calls(body: dict[str, Any]) -> dict[str, Any]:
    around = body.get("output", body.get("content", []))
    for call in _calls(body):
        name = "call_id" if "call_id" in call else "id"
        around.append(_asking({**call, name: f"{call[name]}b"}, 12))
    return body


@pytest.mark.parametrize("name", ["messages", "responses"])
def test_a_turn_is_of_the_answer_that_any_of_its_calls_is_of(name: str) -> None:
    again = with_ids_again(name)

    def first(turn: int) -> dict[str, Any]:
        """Of two calls the first one asks for another hour."""
        made = _with_two_calls(TALKERS[name].body(turn))
        for call in _calls(made)[:1]:
            call.update(_asking(call, 9))
        return made

    talker = TALKERS[name]
    tried = Talker(talker.dialect, talker.profile, first, talker.path, **talker.more)
    assert broken(judged(name, numbered([*talk(tried)[:1], *talk(again)]))) == set()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kept", [(1, 2, 3), (2, 3), (3,), (0, 3), (3, 2, 1, 0)], ids=str)
def test_half_a_session_blames_nobody(name: str, kept: tuple[int, ...]) -> None:
    exchanges = talk(TALKERS[name])
    assert broken(judged(name, numbered([exchanges[at] for at in kept]))) == set()


DEEP: Final[list[Any]] = json.loads("[" * 300 + "]" * 300)
STRANGE: Final[dict[str, Any]] = {
    "a text": "hello",
    "an empty text": "",
    "a number": 7,
    "null": None,
    "an object": {"role": "user", "content": "x"},
    "true": True,
    "empty": [],
    "of nulls": [None, None],
    "of numbers": [1, 2],
    "of texts": ["a", "b"],
    "of lists": [[], [{}]],
    "deep": DEEP,
    "roles that are numbers": [{"role": 7, "content": [7]}],
    "contents that are null": [{"role": "assistant", "content": None}, {"role": "user"}],
    "blocks of all kinds": [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": [
                *(None, 7, "x", {"type": 7}),
                {"type": "thinking", "thinking": 7, "signature": [1]},
                {"type": "tool_use", "id": {}, "name": [], "input": "no json {"},
            ],
            "tool_calls": [None, {"id": 7}, {"id": "a", "function": {"arguments": []}}],
            "reasoning_details": "no",
            "reasoning_content": [1],
        },
        {"role": "user", "content": "r"},
    ],
    "parts of all kinds": [
        {"role": "model", "parts": [None, 7, {"functionCall": 7}, {"thoughtSignature": 7}]},
        {"role": "user", "parts": "x"},
    ],
    "items of all kinds": [
        {"type": "reasoning", "summary": 7, "encrypted_content": {}},
        {"type": "function_call", "call_id": [], "arguments": 7},
        {"type": "message", "role": "assistant", "content": 7, "id": []},
    ],
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", STRANGE)
def test_a_strange_history_is_the_fault_of_no_other_request(name: str, what: str) -> None:
    key = TALKERS[name].history
    for at in (0, 2, 3):
        exchanges = talk(TALKERS[name])
        request = exchanges[at].request
        assert request is not None
        body = {**request.json, key: STRANGE[what]}
        exchanges[at] = replace(exchanges[at], request=replace(request, json=body))
        results = judged(name, exchanges)
        assert Verdict.ERROR not in {v for each in results for v in each.verdicts.values()}
        assert broken(each for each in results if each.exchange != at + 1) == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_request_without_a_history_carries_nothing_on(name: str) -> None:
    exchanges = talk(TALKERS[name])
    request = exchanges[2].request
    assert request is not None
    bodies: tuple[Any, ...] = ({}, [], "x", None)
    for body in bodies:
        exchanges[2] = replace(exchanges[2], request=replace(request, json=body))
        results = judged(name, exchanges)
        assert results[2].links == ()
        assert broken(each for each in results if each.exchange != 3) == set()
