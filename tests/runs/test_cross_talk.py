"""Cross-talk by words and ids: what is foreign, what only looks like it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.core.reading import Reading
from conformance.dialects import get
from conformance.runs.cross_talk import (
    MOST_ANSWERS,
    AnswerSigns,
    CrossTalkWatch,
    ForeignSign,
    answer_signs,
    foreign_ids,
)
from conformance.runs.step_requests import marker_word

A, B, C = (f"chatcmpl-{letter * 7}1{letter * 4}" for letter in "abc")


def chunk(id_: str, text: str) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    return {"id": id_, "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def answer(name: str, *chunks: dict[str, Any], asked: str = "", alone: bool = False) -> AnswerSigns:
    exchange = Exchange(
        request=Request(json={"stream": True, "messages": [{"role": "user", "content": asked}]}),
        response=Response(200, headers=(("content-type", "text/event-stream"),)),
        chunks=tuple(Chunk(f"data: {json.dumps(each)}\n\n".encode(), 1.0) for each in chunks),
    )
    group = name.partition("/")[0]
    dialect = get("openai.chat")
    return answer_signs(exchange, dialect, Reading(), request=name, group=group, is_alone=alone)


def found_signs(*answers: AnswerSigns) -> set[tuple[str, str]]:
    watch = CrossTalkWatch()
    found = [sign for each in answers for sign in watch.take(each)]
    return {(sign.holder, sign.owner) for sign in found}


def test_a_chunk_of_another_answer_names_both_whatever_ends_first() -> None:
    holder = answer("x/s", chunk(A, "1"), chunk(B, "2"), chunk(A, "3"))
    owner = answer("y/s", chunk(B, "1"), chunk(B, "3"))
    assert found_signs(holder, owner) == found_signs(owner, holder) == {("x/s", "y/s")}
    (sign,) = CrossTalkWatch().take(holder) or foreign_ids(holder, owner, set())
    assert (sign.event, sign.value) == (2, B)
    assert sign.sentence == f"id {B!r} belongs to the answer to 'y/s', not to 'x/s'"


def test_a_copied_first_chunk_belongs_to_who_begins_with_it() -> None:
    assert found_signs(
        answer("x/s", chunk(A, "1"), chunk(B, "2")), answer("y/s", chunk(B, "1"))
    ) == {("x/s", "y/s")}


def test_an_id_is_of_the_answer_that_has_no_other() -> None:
    holder = answer("x/s", chunk(B, "1"), chunk(B, "2"), chunk(A, "3"))
    assert found_signs(holder, answer("y/s", chunk(B, "1"))) == {("x/s", "y/s")}


def test_ids_that_are_the_same_everywhere_are_no_cross_talk() -> None:
    one, two = (answer(f"{name}/s", chunk(A, "1"), chunk(A, "2")) for name in "xy")
    assert found_signs(one, two) == set()


def test_ids_that_promise_nothing_are_no_cross_talk() -> None:
    for first, second in (("1", "2"), ("chunk-1", "chunk-2"), ("1763800000", "1763800001")):
        one = answer("x/s", chunk(first, "1"), chunk(second, "2"), chunk(first, "3"))
        assert found_signs(one, answer("y/s", chunk(second, "1"), chunk(second, "2"))) == set()


def test_kinds_that_repeat_in_answers_taken_alone_are_no_cross_talk() -> None:
    alone = [answer(f"{n}/s", chunk(A, "1"), chunk(B, "2"), alone=True) for n in (1, 2)]
    mixed = answer("x/s", chunk(C, "1"), chunk(B, "2")), answer("y/s", chunk(B, "1"))
    assert found_signs(*mixed) == {("x/s", "y/s")}
    assert found_signs(*alone, *mixed) == set()


def test_what_the_request_names_is_its_own() -> None:
    quoting = answer("x/s", chunk(A, "1"), chunk(B, "2"), asked=f"go on after {B}")
    assert found_signs(quoting, answer("y/s", chunk(B, "1"), chunk(B, "2"))) == set()


def test_one_scenario_may_name_its_own_ids() -> None:
    later = answer("x/later", chunk(A, "1"), chunk(B, "2"))
    assert found_signs(later, answer("x/first", chunk(B, "1"), chunk(B, "2"))) == set()


def test_a_word_is_found_however_it_is_cut() -> None:
    word, own = marker_word("y/s"), marker_word("x/s")
    watch = CrossTalkWatch()
    watch.expect_word(word, "y/s", "y")
    watch.expect_word(own, "x/s", "x")
    spelt = [chunk(A, piece) for piece in ("I say ", word[:3], word[3:9], word[9:], f" and {own}")]
    (sign,) = watch.take(answer("x/s", *spelt, asked=f"Begin with {own}"))
    assert sign == ForeignSign("x/s", "y/s", word, "", 4)
    assert watch.foreign == {"x/s": sign}
    assert list(watch.torn) == ["y/s"]


def test_a_word_that_the_request_quotes_is_its_own() -> None:
    word = marker_word("y/s")
    watch = CrossTalkWatch()
    watch.expect_word(word, "y/s", "y")
    assert watch.take(answer("x/s", chunk(A, word), asked=f"You said {word}.")) == []


def test_nothing_grows_without_bound() -> None:
    watch = CrossTalkWatch()
    signs = answer("x/s", chunk(A, "1"))
    for number in range(5000):
        watch.expect_word(f"K{number:010}", f"{number}/s", str(number))
        ids = {"id": {f"a1b2c3d4{number}": signs.ids["id"][A]}}
        watch.take(AnswerSigns(f"{number}/s", str(number), frozenset(), {}, ids))
    assert len(watch._answers) == len(watch._holders) == MOST_ANSWERS


@given(st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=5), max_size=6))
def test_the_watch_says_what_a_comparison_of_all_pairs_says(streams: Sequence[list[str]]) -> None:
    answers = [
        answer(f"{number}/s", *(chunk(f"chatcmpl-{each * 7}1", "x") for each in ids))
        for number, ids in enumerate(streams)
    ]
    pairs = {
        (sign.holder, sign.owner)
        for one in answers
        for other in answers
        for sign in foreign_ids(one, other, set())
    }
    assert found_signs(*answers) == pairs
