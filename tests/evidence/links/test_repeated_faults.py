"""What a request alone holds is one finding, however often later requests repeat it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from conformance.core.events import Exchange
from tests.evidence.links.odd_histories import numbered, read
from tests.evidence.links.talks import TALKERS, checked, history_of, talk, with_history

WITH_IDS: Final = ("messages", "deepseek", "responses", "converse", "mistral")
History = list[Any]


def without_result(name: str, history: History) -> History:
    """The history without the result of its first call."""
    lost = next((n for n, each in enumerate(history) if read(name, each).by == "tool"), None)
    return [each for n, each in enumerate(history) if n != lost]


def with_result_twice(name: str, history: History) -> History:
    """The history with its first result two times."""
    at = next((n for n, each in enumerate(history) if read(name, each).by == "tool"), None)
    return history if at is None else [*history[: at + 1], *history[at:]]


def edited(name: str, first: int, edit: Callable[[str, History], History]) -> list[Exchange]:
    """The talk with an edit of every history from one request on."""
    exchanges, key = talk(TALKERS[name]), TALKERS[name].history
    for at in range(first, len(exchanges)):
        history = edit(name, history_of(exchanges[at], key))
        exchanges[at] = with_history(exchanges[at], key, history)
    return exchanges


def found(name: str, exchanges: list[Exchange]) -> list[tuple[int, str]]:
    results = checked(exchanges, TALKERS[name].dialect, TALKERS[name].profile)
    rules = ((each.exchange, finding.rule) for each in results for finding in each.findings)
    return [each for each in rules if each[1].startswith("history/")]


@pytest.mark.parametrize("name", WITH_IDS)
def test_a_lost_result_is_found_once(name: str) -> None:
    assert [exchange for exchange, _ in found(name, edited(name, 1, without_result))] == [2]


@pytest.mark.parametrize("name", [*WITH_IDS, "gemini", "ollama"])
def test_a_doubled_result_is_found_once(name: str) -> None:
    assert [exchange for exchange, _ in found(name, edited(name, 1, with_result_twice))] == [2]


def test_a_later_request_says_where_it_was_reported() -> None:
    results = checked(edited("messages", 1, without_result), "anthropic.messages", "anthropic")
    given = [each.reasons.get("history/calls/answered") for each in results]
    assert given[2:] == ["reported in exchange 2"] * 2


def test_a_second_fault_is_a_second_finding() -> None:
    def without_two(name: str, history: History) -> History:
        return without_result(name, without_result(name, history))

    exchanges = [
        *edited("messages", 1, without_result)[:2],
        *edited("messages", 2, without_two)[2:],
    ]
    answered = "history/calls/answered"
    assert found("messages", exchanges) == [(2, answered), (3, answered)]


def test_a_system_prompt_with_the_time_does_not_make_it_new() -> None:
    def at_noon(number: int, exchange: Exchange) -> Exchange:
        prompt = {"role": "system", "content": f"It is 12:0{number}."}
        return with_history(exchange, "messages", [prompt, *history_of(exchange, "messages")])

    exchanges = edited("deepseek", 1, without_result)
    dated = [at_noon(n, each) for n, each in enumerate(exchanges)]
    assert [exchange for exchange, _ in found("deepseek", dated)] == [2]


def test_a_retry_repeats_the_fault_of_the_first_try() -> None:
    exchanges = edited("messages", 1, without_result)
    tried = numbered([*exchanges[:2], exchanges[1], *exchanges[2:]])
    assert [exchange for exchange, _ in found("messages", tried)] == [2]


def test_another_talk_has_a_finding_of_its_own() -> None:
    exchanges = edited("messages", 1, without_result)
    others = []
    for each in exchanges:
        rest = history_of(each, "messages")[1:]
        asked = [{"role": "user", "content": "When may a canoe pass?"}, *rest]
        others.append(with_history(each, "messages", asked))
    both = numbered([*exchanges, *others])
    assert [exchange for exchange, _ in found("messages", both)] == [2, 6]
