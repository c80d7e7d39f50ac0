"""Thinking that need not come back: of another model, a condensed turn, a choice not taken."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance.core.events import Chunk, Exchange
from tests.evidence.links.edits import lost
from tests.evidence.links.talks import TALKERS, Body, checked, history_of, seal, talk, with_history

_SAID: Final = "I read the gauge of the old bridge first, and then the one of the new bridge."
SIGNED: Final = {"gemini": "history/gemini/turn-signed", "mistral": "history/mistral/turn-signed"}


def _without_seal(name: str) -> list[Exchange]:
    """The talk whose last request lacks the signature of the first turn."""
    exchanges, key = talk(TALKERS[name]), TALKERS[name].history
    history = lost(seal(1))(history_of(exchanges[3], key))
    return [*exchanges[:3], with_history(exchanges[3], key, history)]


def _failing(name: str, exchanges: list[Exchange]) -> set[str]:
    found = checked(exchanges, TALKERS[name].dialect, TALKERS[name].profile)
    return {f.rule for each in found for f in each.findings if f.rule.startswith("history/")}


def _asking(exchange: Exchange, **changed: Any) -> Exchange:
    assert exchange.request is not None
    return replace(exchange, request=replace(exchange.request, **changed))


@pytest.mark.parametrize("name", SIGNED)
def test_the_same_model_gets_its_signatures(name: str) -> None:
    assert _failing(name, _without_seal(name)) == {SIGNED[name]}


def test_another_model_of_a_body_needs_none() -> None:
    *before, last = _without_seal("mistral")
    assert last.request is not None
    other = _asking(last, json={**last.request.json, "model": "another-2"})
    assert _failing("mistral", [*before, other]) == set()


@pytest.mark.parametrize(
    ("asked", "then", "found"),
    [
        ("m-1", "m-1-20250929", {SIGNED["mistral"]}),
        ("m-1-2025-08-07", "m-1", {SIGNED["mistral"]}),
        ("m-1", "m-1-latest", {SIGNED["mistral"]}),
        ("m-1-20250929", "m-1-20251001", set()),
        ("m-1", "m-1-mini", set()),
    ],
)
def test_an_alias_and_a_dated_name_are_one_model(asked: str, then: str, found: set[str]) -> None:
    exchanges = [
        _asking(each, json={**each.request.json, "model": then if number == 4 else asked})
        for number, each in enumerate(_without_seal("mistral"), 1)
        if each.request is not None
    ]
    assert _failing("mistral", exchanges) == found


@pytest.mark.parametrize(("chosen", "found"), [("mine", {SIGNED["mistral"]}), ("other", set())])
def test_a_client_in_a_run_is_played_answers_of_another_name(chosen: str, found: set[str]) -> None:
    """What its user chose counts, and not the name that the recording has."""
    *before, last = _without_seal("mistral")
    assert last.request is not None
    asked = _asking(last, json={**last.request.json, "model": "mine"})
    choices = [{"model": "mine"}] * len(before) + [{"model": chosen}]
    made = zip([*before, asked], choices, strict=True)
    exchanges = [replace(each, user_choices=choice) for each, choice in made]
    assert _failing("mistral", exchanges) == found


def test_another_model_of_a_path_needs_none() -> None:
    *before, last = _without_seal("gemini")
    assert last.request is not None
    body = {key: value for key, value in last.request.json.items() if key != "model"}
    before = [_asking(each, json={**body, "contents": _contents(each)}) for each in before]
    path = "/v1beta/models/gemini-2.5-flash:generateContent"
    assert _failing("gemini", [*before, _asking(last, json=body, path=path)]) == set()
    streamed = last.request.path.replace(":generate", ":streamGenerate")
    assert _failing("gemini", [*before, _asking(last, json=body, path=streamed)]) == {
        SIGNED["gemini"]
    }


def _contents(exchange: Exchange) -> Any:
    assert exchange.request is not None
    return exchange.request.json["contents"]


@pytest.mark.parametrize("name", SIGNED)
def test_another_server_needs_none(name: str) -> None:
    *before, last = _without_seal(name)
    before = [_asking(each, server="https://one.example") for each in before]
    assert _failing(name, [*before, _asking(last, server="https://one.example")]) == {SIGNED[name]}
    assert _failing(name, [*before, _asking(last, server="https://other.example")]) == set()


def test_what_is_altered_for_another_model_is_altered() -> None:
    *before, last = talk(TALKERS["mistral"])
    assert last.request is not None
    text = json.dumps({**last.request.json, "model": "another-2"}).replace(seal(1), seal(1)[:-6])
    other = _asking(last, json=json.loads(text))
    assert SIGNED["mistral"] in _failing("mistral", [*before, other])


def test_a_turn_that_is_over_may_come_back_without_its_calls() -> None:
    """A client that clears old calls keeps what was said beside them."""
    first, *_, last = talk(TALKERS["mistral"])
    entries = history_of(last, "messages")
    kept = [entries[0], {"role": "assistant", "content": _SAID}, *entries[-2:]]
    assert _failing("mistral", [_speaking(first), with_history(last, "messages", kept)]) == set()


def _speaking(exchange: Exchange) -> Exchange:
    """The exchange with an answer that says something beside its call."""
    body: Body = json.loads(exchange.body)
    body["choices"][0]["message"]["content"].append({"type": "text", "text": _SAID})
    return replace(exchange, chunks=(Chunk(json.dumps(body).encode()),))


@pytest.mark.parametrize("name", SIGNED)
def test_signatures_of_a_choice_that_was_not_taken_need_not_come_back(name: str) -> None:
    exchanges = talk(TALKERS[name])
    body: Body = json.loads(exchanges[0].body)
    key = "choices" if "choices" in body else "candidates"
    second = json.loads(json.dumps(body[key][0]).replace(seal(1), seal(7)))
    body[key].append({**second, "index": 1})
    exchanges[0] = replace(exchanges[0], chunks=(Chunk(json.dumps(body).encode()),))
    assert _failing(name, exchanges) == set()
