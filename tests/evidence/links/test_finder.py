"""Which answer a request brings back, and where nobody can tell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance.core.events import Chunk, Exchange, Request
from conformance.dialects import get
from conformance.dialects.base import Reading
from conformance.evidence.links.answers import AnswerListener
from conformance.evidence.links.finder import LinkFinder
from conformance.evidence.links.requests import RepeatedTalk
from conformance.judging.fast.joined import read_joined
from conformance.judging.result import CarriedAnswer, StreamResult
from conformance.rules.verdicts import Verdict
from tests.evidence.links.edits import cut
from tests.evidence.links.talks import (
    HEAD,
    TALKERS,
    TEXT,
    broken,
    checked,
    history_of,
    seal,
    talk,
    with_history,
)

MESSAGES: Final = TALKERS["messages"]
SIGNED: Final = "history/messages/turn-signed"
UNCHANGED: Final = "history/messages/signed-unchanged"


def signed_exchange(
    text: str, signature: str, question: str, history: list[Any], number: int
) -> Exchange:
    """An exchange of Messages that answers a question with a signed thought and a text."""
    content = [
        {"type": "thinking", "thinking": "I know.", "signature": signature},
        {"type": "text", "text": text},
    ]
    body = {**MESSAGES.body(3), "content": content}
    talk_so_far = [*history, {"role": "user", "content": question}]
    asked = {"model": "m", "max_tokens": 9, "messages": talk_so_far}
    request = Request("POST", "/v1/messages", (), asked)
    return Exchange(number, request, HEAD, (Chunk(json.dumps(body).encode()),))


def turns(question: str, text: str, signature: str) -> list[Any]:
    """What was asked and answered, as a history has it."""
    thought = {"type": "thinking", "thinking": "I know.", "signature": signature}
    return [
        {"role": "user", "content": [{"type": "text", "text": question}]},
        {"role": "assistant", "content": [thought, {"type": "text", "text": text}]},
    ]


def judged(*exchanges: Exchange) -> list[StreamResult]:
    return checked(exchanges, "anthropic.messages", "anthropic")


def carried(result: StreamResult) -> list[int]:
    return [link.exchange for link in result.links]


def test_a_link_says_how_it_was_reported() -> None:
    results = checked(talk(MESSAGES), MESSAGES.dialect, MESSAGES.profile)
    assert results[3].links == (
        CarriedAnswer(1, "call call00001", "messages", (1,)),
        CarriedAnswer(2, "call call00002", "messages", (3,)),
        CarriedAnswer(3, "the same text", "messages", (5,)),
    )


def test_of_two_talks_each_is_carried_on_by_its_own() -> None:
    one, other = turns("Is it low?", "Yes.", "one"), turns("Is it high?", "Yes.", "other")
    results = judged(
        signed_exchange("Yes.", "one", "Is it low?", [], 1),
        signed_exchange("Yes.", "other", "Is it high?", [], 2),
        signed_exchange("So.", "3", "And now?", one, 3),
        signed_exchange("So.", "4", "And now?", other, 4),
    )
    assert [carried(each) for each in results] == [[], [], [1], [2]]
    assert broken(results) == set()


def test_a_signature_of_another_turn_with_the_same_text_is_found() -> None:
    swapped = [*turns("Is it low?", "Yes.", "other"), *turns("Is it high?", "Yes.", "one")]
    right = turns("Is it low?", "Yes.", "one")
    results = judged(
        signed_exchange("Yes.", "one", "Is it low?", [], 1),
        signed_exchange("Yes.", "other", "Is it high?", right, 2),
        signed_exchange("So.", "3", "And now?", swapped, 3),
    )
    assert [f.slice for f in results[2].findings if f.rule == SIGNED] == [
        {"exchange": 1},
        {"exchange": 2},
    ]


def test_answers_to_one_question_that_differ_are_untestable() -> None:
    """The client asked twice, and nobody can tell which of the two answers went on."""
    results = judged(
        signed_exchange("Yes.", "one", "Is it low?", [], 1),
        signed_exchange("Yes.", "other", "Is it low?", [], 2),
        signed_exchange("So.", "3", "And now?", turns("Is it low?", "Yes.", "third"), 3),
    )
    assert results[2].verdicts[SIGNED] is Verdict.UNTESTABLE
    assert "exchanges 2 and 1" in results[2].reasons[SIGNED]
    assert results[2].links[0].others == (1,)
    assert broken(results) == set()


def test_a_talk_that_was_recorded_twice_is_right() -> None:
    first = talk(MESSAGES)
    again = [replace(each, number=each.number + len(first)) for each in first]
    results = checked([*first, *again], MESSAGES.dialect, MESSAGES.profile)
    assert broken(results) == set()
    assert results[-1].verdicts["history/messages/turn-unchanged"] is Verdict.PASS


def test_half_a_talk_blames_no_answer_that_was_not_recorded() -> None:
    """A short text that was said before the recording began, and once more in it."""
    before = turns("Is it low?", "Yes.", "of an answer that nobody recorded")
    results = judged(
        signed_exchange("Yes.", "one", "Is it high?", before, 1),
        signed_exchange("So.", "2", "And now?", [*before, *turns("Is it high?", "Yes.", "one")], 2),
    )
    assert results[1].links[0].entries == (3,)
    assert broken(results) == set()


def test_an_id_that_stands_for_many_calls_tells_nothing_by_itself() -> None:
    exchanges = talk(MESSAGES)[1:]
    text = json.dumps([each.request and each.request.json for each in exchanges])
    assert "call00001" in text
    bodies = json.loads(text.replace("call00001", "call00002"))
    same = [
        replace(each, request=replace(each.request or Request(), json=body))
        for each, body in zip(exchanges, bodies, strict=True)
    ]
    assert broken(checked(same, MESSAGES.dialect, MESSAGES.profile)) == set()


def test_of_one_broken_turn_one_finding_is_reported() -> None:
    exchanges = talk(MESSAGES)
    for at in (1, 2, 3):
        history = cut(seal(1))(history_of(exchanges[at], "messages"))
        exchanges[at] = with_history(exchanges[at], "messages", history)
    results = checked(exchanges, MESSAGES.dialect, MESSAGES.profile)
    found = [(each.exchange, f.rule) for each in results for f in each.findings]
    assert [each for each in found if each[1].startswith("history/")] == [(2, UNCHANGED)]
    assert results[2].reasons.get(UNCHANGED, "") in ("", "reported in exchange 2")


def of_openrouter(*sealed: Sequence[int]) -> list[tuple[int, str, Any]]:
    """What is found where each request but the first lacks the seals of these entries."""
    talker = TALKERS["openrouter"]
    exchanges = talk(talker)
    for at, entries in enumerate(sealed, 1):
        history = history_of(exchanges[at], "messages")
        for each in entries:
            history = cut(seal(each))(history)
        exchanges[at] = with_history(exchanges[at], "messages", history)
    results = checked(exchanges, talker.dialect, talker.profile)
    every = [(each.exchange, f) for each in results for f in each.findings]
    return [(n, f.rule, f.slice) for n, f in every if f.rule.startswith("history/")]


def test_a_turn_that_is_broken_next_to_its_calls_is_no_second_finding_later() -> None:
    beside_calls = (2, "history/chat/details-signed", {"exchange": 1})
    assert of_openrouter((1,), (1,), (1,)) == [beside_calls]
    # What only a later turn breaks is a fault of its own.
    later = (4, "history/chat/earlier-details-signed", {"exchange": 1})
    assert of_openrouter((), (), (1,)) == [later]


def test_a_finding_shows_both_places() -> None:
    exchanges = talk(MESSAGES)
    history = cut(seal(1))(history_of(exchanges[1], "messages"))
    exchanges[1] = with_history(exchanges[1], "messages", history)
    results = checked(exchanges, MESSAGES.dialect, MESSAGES.profile)
    (found,) = (f for f in results[1].findings if f.rule == UNCHANGED)
    assert found.upstream is not None
    assert (found.upstream.exchange, found.upstream.side) == (1, "answer")
    assert [line.type for line in found.context] == ["messages.1"]


def test_an_answer_that_broke_off_is_inconclusive() -> None:
    first = replace(signed_exchange("Yes.", "one", "Is it low?", [], 1), end="reset")
    results = judged(
        first, signed_exchange("So.", "2", "And?", turns("Is it low?", "Yes.", "x"), 2)
    )
    assert broken(results) == set()


@pytest.mark.parametrize(
    "history",
    [
        None,
        "Is it low?",
        7,
        {"role": "user"},
        [None, 7, "text", [], {}],
        [{"role": ["assistant"], "content": {"text": 1}}],
        [{"role": "assistant", "content": [{"type": ["text"]}, {"type": "tool_use", "input": []}]}],
        [{"role": "assistant", "tool_calls": [{"function": {"arguments": "{"}}]}],
        [{"role": "model", "parts": [{"functionCall": 7, "text": None}]}],
        [{"type": "function_call", "call_id": 3, "arguments": [1]}, {"type": ["message"]}],
    ],
)
@pytest.mark.parametrize("name", TALKERS)
def test_a_history_of_any_shape_is_read(name: str, history: Any) -> None:
    talker = TALKERS[name]
    first, second, *_ = talk(talker)
    assert second.request is not None
    body = {**second.request.json, talker.history: history}
    odd = replace(second, request=replace(second.request, json=body))
    results = checked([first, odd], talker.dialect, talker.profile)
    assert all(Verdict.ERROR not in each.verdicts.values() for each in results)
    assert results[1].links == ()


def test_one_text_many_times_stays_bounded() -> None:
    history = [
        {"role": "assistant" if place % 2 else "user", "content": TEXT} for place in range(4000)
    ]
    exchanges = [
        signed_exchange(TEXT, "one", "Is it low?", [], 1),
        signed_exchange(TEXT, "two", "Is it low?", [], 2),
        signed_exchange("So.", "3", "And?", history, 3),
    ]
    assert len(judged(*exchanges)[2].links) == 1


@pytest.mark.parametrize(("reason", "links"), [("max_tokens", []), ("end_turn", [1])])
def test_answer_that_was_gone_on_with_is_part_of_joined_turn(reason: str, links: list[int]) -> None:
    """Agents go on after a limit, and keep one turn of all the answers."""
    asked = signed_exchange("The ebb comes", "one", "When?", [], 1)
    body = {**json.loads(asked.body), "stop_reason": reason}
    first = replace(asked, chunks=(Chunk(json.dumps(body).encode()),))
    joined = turns("When?", "The ebb comes at four.", "one")
    joined[1]["content"][0]["thinking"] = "I know. It is late."
    later = signed_exchange("So.", "2", "And now?", joined, 2)
    results = judged(first, later)
    assert carried(results[1]) == links
    assert bool(broken(results)) is bool(links)


def test_an_answer_that_is_forgotten_is_found_no_more() -> None:
    finder = LinkFinder()
    exchanges = talk(MESSAGES)
    for each in exchanges[:2]:
        listener = AnswerListener(each, get(MESSAGES.dialect), ())
        for read in read_joined(each, get(MESSAGES.dialect), Reading()):
            listener(read.events)
        turn, asked = listener.turn(), RepeatedTalk.of(each, get(MESSAGES.dialect))
        assert turn is not None
        finder.remember(turn, asked)
    last = RepeatedTalk.of(exchanges[2], get(MESSAGES.dialect))
    assert last is not None
    assert [link.answers[0].number for link in finder.links(last)] == [1, 2]
    finder.forget(1)
    finder.forget(1)
    assert [link.answers[0].number for link in finder.links(last)] == [2]
    finder.forget(2)
    assert finder.links(last) == []
    assert not finder._known
