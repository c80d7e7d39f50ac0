"""Talks that look odd and are right: nobody is blamed, and what is asked again is the same turn."""

from __future__ import annotations

from typing import Any, Final

import pytest

from conformance.core.events import Exchange
from conformance.rules.verdicts import Verdict
from tests.evidence.links.edits import Edit
from tests.evidence.links.odd_histories import asking, edited, respelled
from tests.evidence.links.odd_talks import ODD, regenerated, regenerated_and_back
from tests.evidence.links.talks import (
    TALKERS,
    TEXT,
    broken,
    checked,
    history_of,
    talk,
    thought,
    with_history,
)

IN_ORDER: Final = "turns-in-order"
# Without ids an equal call may be another one.
WITH_IDS: Final = tuple(each for each in TALKERS if each != "ollama")


def _found(name: str, odd: str) -> set[str]:
    talker = TALKERS[name]
    return broken(checked(ODD[odd](name), talker.dialect, talker.profile))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", TALKERS)
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_talk_blames_nobody(odd: str, name: str) -> None:
    assert _found(name, odd) == set()


@pytest.mark.parametrize(
    ("odd", "turns"),
    [
        ("retried_when_refused", [0, 0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]),
        ("retried_when_cut", [0, 1, 2, 2, 3, 3, 4, 4]),
        ("same_agent_twice", [1, 1, 2, 2, 3, 3, 4, 4]),
        ("title_asked", [1, 2, 3, 0, 4]),
        ("routed", [0, 1, 2, 3, 4]),
        ("judged_by_model", [1, 2, 3, 0, 4]),
        ("forked", [1, 2, 3, 3, 4]),
        ("regenerated", [1, 2, 3, 3, 4]),
    ],
)
@pytest.mark.parametrize("name", ["messages", "responses", "gemini", "ollama"])
def test_what_is_asked_again_is_no_turn_of_its_own(name: str, odd: str, turns: list[int]) -> None:
    talker = TALKERS[name]
    results = checked(ODD[odd](name), talker.dialect, talker.profile)
    assert [each.turn for each in results] == turns


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("messages", "history/returned/thinking-apart"),
        ("gemini", "history/returned/thinking-apart"),
        ("deepseek", "history/returned/thinking-marked"),
        ("converse", "history/returned/thinking-marked"),
        ("ollama", "history/returned/thinking-marked"),
    ],
)
def test_the_same_model_gets_no_thinking_as_text(name: str, rule: str) -> None:
    talker = TALKERS[name]
    exchanges = edited(name, lambda h: respelled(h, (TEXT, f"{thought(1)}\n\n{TEXT}")))
    assert rule in broken(checked(exchanges, talker.dialect, talker.profile))


@pytest.mark.parametrize("name", ["messages", "deepseek", "gemini", "converse", "cohere", "ollama"])
def test_a_turn_that_a_retry_doubled_is_one_finding(name: str) -> None:
    def twice(history: list[Any]) -> list[Any]:
        at = next(n for n, each in enumerate(history) if TEXT in str(each))
        return [*history[: at + 1], *history[at:]]

    talker = TALKERS[name]
    found = checked(edited(name, twice), talker.dialect, talker.profile)
    assert broken(found) == {"history/returned/turn-once"}


def _turned(history: list[Any]) -> list[Any]:
    """Behind the question stand two rounds of a loop."""
    second = len(history) // 2 + 1
    return [history[0], *history[second:], *history[1:second]]


def _again(history: list[Any]) -> list[Any]:
    return [*history, *history[len(history) // 2 + 1 :]]


@pytest.mark.parametrize("name", WITH_IDS)
@pytest.mark.parametrize(("edit", "rule"), [(_turned, IN_ORDER), (_again, "turn-once")])
def test_rounds_in_another_order_and_twice_are_one_finding(
    name: str, edit: Edit, rule: str
) -> None:
    talker = TALKERS[name]
    exchanges = talk(talker)
    history = edit(history_of(exchanges[2], talker.history))
    exchanges[2] = with_history(exchanges[2], talker.history, history)
    found = checked(exchanges, talker.dialect, talker.profile)
    is_refused = name == "responses" and edit is _again
    expected = "history/responses/ids-distinct" if is_refused else f"history/returned/{rule}"
    assert broken(found) == {expected}


@pytest.mark.parametrize("name", [each for each in TALKERS if each != "responses"])
def test_question_before_its_earlier_answer_is_one_finding(name: str) -> None:
    def turned(history: list[Any]) -> list[Any]:
        return [*history[:-2], history[-1], history[-2]]

    talker = TALKERS[name]
    exchanges = talk(talker)
    history = turned(history_of(exchanges[3], talker.history))
    exchanges[3] = with_history(exchanges[3], talker.history, history)
    found = checked(exchanges, talker.dialect, talker.profile)
    assert broken(found) == {f"history/returned/{IN_ORDER}"}


@pytest.mark.parametrize("name", ["messages", "deepseek", "gemini", "ollama", "converse", "cohere"])
@pytest.mark.parametrize("has_thought", [True, False])
def test_question_and_answer_stand_twice(name: str, *, has_thought: bool) -> None:
    """Words may be said twice; thinking, or a seal, is of one answer alone."""
    talker = TALKERS[name]
    exchanges = talk(talker)
    key = talker.history
    history = history_of(exchanges[3], key)
    if has_thought:
        round_again = [*history[:3], *history[:-1], history[-1]]
        exchanges[3] = with_history(exchanges[3], key, round_again)
    else:
        twice = [*history[:-1], {**history[0]}, history[-2], history[-1]]
        exchanges[3] = with_history(exchanges[3], key, twice)
    found = broken(checked(exchanges, talker.dialect, talker.profile))
    assert found == ({"history/returned/turn-once"} if has_thought else set())


@pytest.mark.parametrize("tag", ["think", "thinking", "reasoning"])
@pytest.mark.parametrize("name", ["deepseek", "converse", "ollama"])
def test_thinking_between_tags_is_taken_out_again(name: str, tag: str) -> None:
    talker = TALKERS[name]
    text = f"<{tag}>{thought(1)}</{tag}>{TEXT}"
    exchanges = edited(name, lambda h: respelled(h, (TEXT, text)))
    assert broken(checked(exchanges, talker.dialect, talker.profile)) == set()


def test_thinking_before_a_lone_closing_tag_is_taken_out_again() -> None:
    talker = TALKERS["deepseek"]
    exchanges = edited("deepseek", lambda h: respelled(h, (TEXT, f"{thought(1)}</think>{TEXT}")))
    assert broken(checked(exchanges, talker.dialect, talker.profile)) == set()


WORDS: Final = "history/returned/words-kept"
NAMES: Final = ("messages", "deepseek", "gemini", "converse", "cohere", "ollama", "responses")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (TEXT[: len(TEXT) // 2], {WORDS}),
        (f"{TEXT[:12]}...", {WORDS}),
        (TEXT.replace("e", "&#101;", 1), {WORDS}),
        (f"  {TEXT}\n", set()),
        (f"**{TEXT}**", set()),
        (f"Answer: {TEXT}", set()),
        (TEXT.replace(" ", " -- ", 1), set()),
        ("Ask me no more of the tides.", set()),  # may be an answer that was not recorded
    ],
)
@pytest.mark.parametrize("name", [each for each in NAMES if each != "cohere"])
def test_a_text_comes_back_in_its_words(name: str, text: str, found: set[str]) -> None:
    talker = TALKERS[name]
    exchanges = edited(name, lambda h: respelled(h, (TEXT, text)))
    assert broken(checked(exchanges, talker.dialect, talker.profile)) == found


def _cited(history: list[Any]) -> list[Any]:
    """Half of a text stands where a citation backs it, as ChatBedrockConverse sends it back."""
    half = len(TEXT) // 2
    cited = {"citationsContent": {"content": [{"text": TEXT[half:]}], "citations": []}}
    for each in history:
        if {"text": TEXT} in each["content"]:
            each["content"] = [{"text": TEXT[:half]}, cited]
    return history


def test_cited_text_comes_back_in_its_block() -> None:
    exchanges, talker = edited("converse", _cited), TALKERS["converse"]
    results = checked(exchanges, talker.dialect, talker.profile)
    assert broken(results) == set()
    assert results[-1].verdicts[WORDS] is Verdict.PASS


def test_of_two_rules_on_a_text_one_speaks() -> None:
    exchanges = edited("cohere", lambda h: respelled(h, (TEXT, TEXT[: len(TEXT) // 2])))
    talker = TALKERS["cohere"]
    found = broken(checked(exchanges, talker.dialect, talker.profile))
    assert found == {"history/cohere/text-as-said"}


def _with_both_answers(name: str) -> list[Exchange]:
    """The third answer is made again, and both go back."""
    exchanges, key = regenerated_and_back(name), TALKERS[name].history
    kept, made = (history_of(each, key) for each in (exchanges[4], regenerated(name)[4]))
    turn = len(history_of(exchanges[2], key))
    both = [*kept[:-1], *made[turn:-1], kept[-1]]
    return [*exchanges[:4], with_history(exchanges[4], key, both)]


@pytest.mark.parametrize("name", NAMES)
def test_two_answers_to_one_request_are_found(name: str) -> None:
    talker = TALKERS[name]
    found = broken(checked(_with_both_answers(name), talker.dialect, talker.profile))
    assert found == {"history/returned/one-of-tries"}


# Gemini takes no two turns of the model in a row.
@pytest.mark.parametrize("name", [each for each in NAMES if each != "gemini"])
def test_two_models_may_answer_one_question_for_a_third(name: str) -> None:
    talker, exchanges = TALKERS[name], _with_both_answers(name)
    exchanges[3] = asking(exchanges[3], model="another-2")
    assert broken(checked(exchanges, talker.dialect, talker.profile)) == set()


def test_two_agents_may_answer_one_question_for_a_third() -> None:
    talker, exchanges = TALKERS["messages"], _with_both_answers("messages")
    exchanges[3] = asking(exchanges[3], system="You are the harbour master.")
    assert broken(checked(exchanges, talker.dialect, talker.profile)) == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_question_that_stands_twice_before_its_answer_is_found(name: str) -> None:
    talker = TALKERS[name]
    exchanges = edited(name, lambda h: [h[0], *h])
    found = broken(checked(exchanges, talker.dialect, talker.profile))
    assert found == {"history/returned/question-once"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("odd", ["regenerated", "retried_when_cut"])
def test_a_request_that_was_made_again_doubles_no_question(name: str, odd: str) -> None:
    assert _found(name, odd) == set()
