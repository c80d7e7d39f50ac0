"""Requests that name the answer before: the server keeps it, and they bring what is new."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance.core.events import Chunk, Exchange, Response
from tests.evidence.links.talks import TALKERS, Body, checked, talk

Edit = Callable[[Body], None]
PREVIOUS: Final = {
    "responses": "previous_response_id",
    "interactions": "previous_interaction_id",
}
_OWN: Final = frozenset({"reasoning", "function_call", "message", "thought", "model_output"})
_ANSWERS: Final = {"responses": ("resp_1", "resp_2"), "interactions": ("v1_1", "v1_2")}


def kept(name: str, **more: Any) -> list[Exchange]:
    """The talk with requests that name the answer before."""
    whole, content = talk(TALKERS[name]), 0
    exchanges = [_asking(whole[0], {"store": None, **more})]
    for before, each in itertools.pairwise(whole):
        history = _body(each)["input"]
        new = [e for e in history[content:] if e.get("type") not in _OWN and not _is_answer(e)]
        content = len(history)
        named = json.loads(before.body)["id"]
        fields = {"input": new, PREVIOUS[name]: named, "store": None, **more}
        exchanges.append(_asking(each, fields))
    first, *rest = exchanges
    return [first, *[_without_question(each) for each in rest]]


def _is_answer(entry: Body) -> bool:
    return entry.get("role") == "assistant"


def _without_question(exchange: Exchange) -> Exchange:
    entries = _body(exchange)["input"]
    results = [each for each in entries if str(each.get("type", "")).startswith("function_")]
    return _asking(exchange, {"input": results or entries[-1:]})


def _body(exchange: Exchange) -> Body:
    assert exchange.request is not None
    body: Body = exchange.request.json
    return body


def _asking(exchange: Exchange, fields: Body) -> Exchange:
    """The exchange with other fields in its request, without those that are None."""
    assert exchange.request is not None
    body = {key: value for key, value in {**_body(exchange), **fields}.items() if value is not None}
    return replace(exchange, request=replace(exchange.request, json=body))


def _edited(exchanges: Sequence[Exchange], number: int, edit: Edit) -> list[Exchange]:
    found = list(exchanges)
    body = deepcopy(_body(found[number - 1]))
    edit(body)
    found[number - 1] = _asking(found[number - 1], body)
    return found


def _broken(name: str, exchanges: Sequence[Exchange]) -> set[tuple[int, str]]:
    """The rules about what is named, and about its turns, that break, with the exchange."""
    numbered = [replace(each, number=number) for number, each in enumerate(exchanges, 1)]
    found = checked(numbered, TALKERS[name].dialect, TALKERS[name].profile)
    return {
        (each.exchange, finding.rule.rpartition("/")[2])
        for each in found
        for finding in each.findings
        if finding.rule.startswith("history/")
    }


def _puts(key: str, value: Any) -> Edit:
    def edit(body: Body) -> None:
        body[key] = value

    return edit


def _answers_nobody(body: Body) -> None:
    """One more result, of no call."""
    body["input"].append({**body["input"][0], "call_id": "call00009"})


def _answers_another(body: Body) -> None:
    body["input"][0]["call_id"] = "call00009"


def _asks_anew(body: Body) -> None:
    body["input"] = "Never mind. When is high water?"


def _turned(body: Body) -> None:
    """The results in a turn of the user, as older clients of Interactions send them."""
    body["input"] = [{"role": "user", "content": body["input"]}]


def test_results_inside_a_turn_are_results() -> None:
    exchanges = kept("interactions")
    assert "call_id" in _body(exchanges[1])["input"][0]
    assert _broken("interactions", _edited(exchanges, 2, _turned)) == set()


@pytest.mark.parametrize("name", PREVIOUS)
def test_a_talk_that_names_each_answer_breaks_nothing(name: str) -> None:
    exchanges = kept(name)
    assert _broken(name, exchanges) == set()
    assert _broken(name, exchanges[2:]) == set()  # what was before was not recorded
    assert _broken(name, [each for each in exchanges for _ in range(2)]) == set()  # retries


@pytest.mark.parametrize("name", PREVIOUS)
def test_a_branch_goes_on_from_an_older_answer(name: str) -> None:
    older = _edited(kept(name), 4, _puts(PREVIOUS[name], _ANSWERS[name][1].replace("2", "3")))
    assert _broken(name, older) == set()


@pytest.mark.parametrize("name", PREVIOUS)
def test_a_whole_history_names_nothing(name: str) -> None:
    """The id is known no more, so the client begins again with everything."""
    assert _broken(name, [*kept(name)[:3], talk(TALKERS[name])[3]]) == set()


@pytest.mark.parametrize("name", PREVIOUS)
@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        (_asks_anew, "named-answered"),
        (_answers_nobody, "named-asked"),
        (_answers_another, "named-asked"),
    ],
)
def test_results_belong_to_the_calls_of_what_is_named(name: str, edit: Edit, rule: str) -> None:
    assert _broken(name, _edited(kept(name), 2, edit)) == {(2, rule)}


@pytest.mark.parametrize("name", PREVIOUS)
def test_results_for_calls_of_another_answer(name: str) -> None:
    older = _edited(kept(name), 3, _puts(PREVIOUS[name], _ANSWERS[name][0]))
    assert _broken(name, older) == {(3, "named-asked")}


def test_one_result_may_be_the_whole_input() -> None:
    exchanges = kept("interactions")
    alone = [
        _asking(each, {"input": entries[0]}) if len(entries) == 1 else each
        for each in exchanges
        for entries in [_body(each)["input"]]
    ]
    assert alone != exchanges
    assert _broken("interactions", alone) == set()


@pytest.mark.parametrize("name", PREVIOUS)
def test_a_call_of_a_tool_that_nobody_offered_needs_no_result(name: str) -> None:
    """Some servers show what they carry out themselves as calls."""
    exchanges = [_asking(each, {"tools": None}) for each in kept(name)]
    assert _broken(name, _edited(exchanges, 2, _asks_anew)) == set()


def test_a_call_that_was_cut_at_the_limit_needs_no_result() -> None:
    first, second, *_ = kept("responses")
    body = json.loads(first.body)
    short = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    body["output"][-1] |= {"status": "incomplete", "arguments": '{"ho'}
    cut = replace(first, chunks=(Chunk(json.dumps({**body, **short}).encode()),))
    assert _broken("responses", _edited([cut, second], 2, _asks_anew)) == set()


@pytest.mark.parametrize("name", PREVIOUS)
def test_what_was_not_stored_is_not_named(name: str) -> None:
    assert _broken(name, kept(name, store=False)) == {
        (number, "named-stored") for number in (2, 3, 4)
    }


def test_a_connection_keeps_its_last_answer_for_itself() -> None:
    upgraded = Response(101, "1.1", (("upgrade", "websocket"),))
    exchanges = [replace(each, response=upgraded) for each in kept("responses", store=False)]
    assert not [rule for _, rule in _broken("responses", exchanges) if rule == "named-stored"]


@pytest.mark.parametrize(
    ("name", "rule"), [("responses", "named-items-once"), ("interactions", "named-not-repeated")]
)
def test_a_history_next_to_the_name_of_what_is_kept(name: str, rule: str) -> None:
    again = _body(talk(TALKERS[name])[2])["input"]
    assert _broken(name, _edited(kept(name), 3, _puts("input", again))) == {(3, rule)}


def test_a_history_next_to_the_name_of_a_conversation() -> None:
    again = _body(talk(TALKERS["responses"])[2])["input"]
    named = kept("responses", conversation="conv_1", previous_response_id=None)
    assert _broken("responses", named) == set()
    found = _broken("responses", _edited(named, 3, _puts("input", again)))
    assert found == {(3, "named-items-once")}


def test_a_repeated_text_without_an_id() -> None:
    exchanges = kept("responses")
    text = json.loads(exchanges[2].body)["output"][0]["content"][0]["text"]
    again = [{"role": "assistant", "content": text}, {"role": "user", "content": "And then?"}]
    found = _broken("responses", _edited(exchanges, 4, _puts("input", again)))
    assert found == {(4, "named-not-repeated")}


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        (_puts("previous_response_id", "rs_2"), "named-by-its-id"),
        (_puts("conversation", "conv_1"), "named-once"),
    ],
)
def test_one_response_is_named_by_its_own_id(edit: Edit, rule: str) -> None:
    assert _broken("responses", _edited(kept("responses"), 4, edit)) == {(4, rule)}
