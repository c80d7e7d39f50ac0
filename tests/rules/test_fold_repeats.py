"""What was said once is not said again: by delta, by part, in pieces and in bulk."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.judging.checker import Checker
from conformance.rules.forms.fold_repeats import LONGEST, _DeltaPairs
from tests.rules.test_texts import cuts, pieces_of

CHECKER = Checker("openai.chat")
CLAUDE = Checker("anthropic.messages")
LONG = "The user wants the weather in Oslo, so the tool has to be called with that city. "
RULES = {
    "thinking/stream/said-once",
    "thinking/stream/text-said-once",
    "thinking/stream/increments",
}
AGAIN = {"thinking/stream/said-once"}


def broken(checker: Checker, events: list[object]) -> set[str]:
    chunks = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    bytewise = [b"".join(chunks)[n : n + 7] for n in range(0, sum(map(len, chunks)), 7)]
    found = [{each.rule for each in checker.check(cut).findings} for cut in (chunks, bytewise)]
    assert found[0] == found[1]
    return found[0] & RULES


def thought(*texts: str, field: str = "reasoning_content") -> set[str]:
    deltas = [{"choices": [{"index": 0, "delta": {field: text}}]} for text in texts]
    return broken(CHECKER, [*deltas, {"choices": [{"index": 0, "delta": {}}]}])


def blocks(*texts: str, call_after: int = -1) -> set[str]:
    events: list[object] = []
    for number, text in enumerate(texts):
        kind = {"type": "thinking", "thinking": ""}
        events += [
            {"type": "content_block_start", "index": len(events), "content_block": kind},
            {
                "type": "content_block_delta",
                "index": len(events),
                "delta": {"type": "thinking_delta", "thinking": text},
            },
            {"type": "content_block_stop", "index": len(events)},
        ]
        if number == call_after:
            call = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
            events.append(
                {"type": "content_block_start", "index": len(events), "content_block": call}
            )
    return broken(CLAUDE, events)


@pytest.mark.parametrize(
    "texts",
    [
        ("Well. ", LONG, LONG),
        ("The user wants ", LONG[15:40], LONG[40:], LONG),
        (LONG, "So. ", LONG + "So. "),
    ],
)
def test_a_delta_that_comes_again_is_found(texts: tuple[str, ...]) -> None:
    assert thought(*texts) == AGAIN


@pytest.mark.parametrize(
    "texts",
    [
        ("no ", "no ", "no ", "no "),
        (LONG[:60], LONG[:60]),
        (LONG, "Let me see. ", LONG),
        ("- [ ] ", "- [ ] ", "- [ ] "),
        ("a" * 63, "a" * 63),
        ("The user ", "The user ", "said that"),
    ],
)
def test_words_may_come_again(texts: tuple[str, ...]) -> None:
    assert thought(*texts) == set()


WORDS = ("The user", " wants", " the weather", " in Oslo")


@pytest.mark.parametrize("begun", [("The user ", "wants the weather"), ("The", *LONG[3:30])])
@pytest.mark.parametrize("more", ["", " And on."])
def test_a_delta_that_begins_with_all_before_it_is_found(begun: tuple[str, ...], more: str) -> None:
    assert thought(*begun, "".join(begun) + more) == AGAIN
    assert thought(*begun, "".join(begun) + more, field="content") == {
        "thinking/stream/text-said-once"
    }


BEGUN = ("The user wants", " the weather", " in Oslo")


def test_a_try_that_was_left_before_the_next_is_found() -> None:
    assert thought(*BEGUN, *BEGUN, ", so I look.") == AGAIN
    assert thought("The user wants the", " weather", *BEGUN, ", so.") == AGAIN
    assert thought(*BEGUN, *BEGUN, ", so I look.", field="content") == {
        "thinking/stream/text-said-once"
    }


@pytest.mark.parametrize(
    "texts",
    [
        (*BEGUN, *BEGUN),  # said twice, as one may be asked to
        (*BEGUN, *BEGUN, *BEGUN, "!"),
        (*BEGUN, ".", *BEGUN, ", so."),  # a sentence that recurs
        ("The user.", *BEGUN, *BEGUN, "!"),  # not from the beginning
        ("So it is so,", " so", *BEGUN),
    ],
)
def test_a_beginning_that_recurs_otherwise_is_no_try(texts: tuple[str, ...]) -> None:
    assert thought(*texts) == set()


@pytest.mark.parametrize(
    "texts",
    [
        ("Tick tock, ", "tick tock, "[:4], "Tick"),
        ("The user ", "wants", "The user wants"),  # too short to tell
        ("Tick, tick, ", "Tick, tick, ", "Tick, tick, Tick, tick, Tick, tick, "),
        ("-" * 12, "-" * 12, "-" * 40),
    ],
)
def test_a_phrase_again_and_again_is_no_text_that_begins_again(texts: tuple[str, ...]) -> None:
    assert thought(*texts) == set()


def test_deltas_that_each_come_twice_are_found() -> None:
    assert thought(*(word for word in WORDS for _ in range(2))) == AGAIN
    assert thought("So.", *(word for word in WORDS for _ in range(2))) == AGAIN
    assert thought(*WORDS, *(word for word in WORDS for _ in range(2))) == AGAIN


@pytest.mark.parametrize(
    "texts",
    [
        WORDS * 2,
        ("no ",) * 8,
        ("no ", "no ", "well ", "well "),
        tuple(sign for sign in "([{<" for _ in range(2)),
        ("The user", "The user", " wants", " the weather", " the weather", " in Oslo"),
    ],
)
def test_words_that_recur_are_no_deltas_that_come_twice(texts: tuple[str, ...]) -> None:
    assert thought(*texts) == set()


def test_of_text_more_may_come_again() -> None:
    assert thought(LONG, LONG, field="content") == set()
    assert thought(LONG * 2, LONG * 2, field="content") == {"thinking/stream/text-said-once"}


@pytest.mark.parametrize(
    "texts", [(LONG[:40], LONG), (LONG[:33], LONG[:50], LONG), (*"ab", LONG[:32], LONG)]
)
def test_few_deltas_show_that_they_are_no_increments(texts: tuple[str, ...]) -> None:
    is_first = len(texts[0]) > 1
    assert thought(*texts) == ({"thinking/stream/increments"} if is_first else set())


def test_a_block_that_comes_again_is_found_unless_a_call_came_between() -> None:
    assert blocks(LONG, LONG) == AGAIN
    assert blocks(LONG, LONG + "And on.") == AGAIN
    assert blocks(LONG, "Well. ", LONG) == AGAIN
    assert blocks(LONG, LONG[:70]) == set()
    assert blocks(LONG, LONG.replace("Oslo", "Rome")) == set()
    assert blocks(LONG, LONG, call_after=0) == set()


@given(cuts)
def test_a_block_that_comes_again_is_found_however_it_is_cut(at: list[int]) -> None:
    events: list[object] = []
    for index, pieces in enumerate(([LONG], pieces_of(LONG, at))):
        kind = {"type": "thinking", "thinking": ""}
        events.append({"type": "content_block_start", "index": index, "content_block": kind})
        events += [
            {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "thinking_delta", "thinking": piece},
            }
            for piece in pieces
        ]
        events.append({"type": "content_block_stop", "index": index})
    assert broken(CLAUDE, events) == AGAIN


@given(st.lists(st.sampled_from(["a", "bc", " ", "\n"]), max_size=60))
def test_short_pieces_raise_nothing(texts: list[str]) -> None:
    assert thought("x", *texts) <= {"thinking/stream/increments"}


@given(st.lists(st.sampled_from(["a", "bc ", LONG, LONG[:40], LONG[40:], LONG * 2]), max_size=30))
def test_long_deltas_are_taken_in_bulk_as_one_by_one(texts: list[str]) -> None:
    """Those among them that come again are found, at the same place."""
    deltas = [
        {"choices": [{"index": 0, "delta": {"content": text}}]} for text in ["x"] * 20 + texts
    ]
    chunks = [f"data: {json.dumps(event)}\n\n".encode() for event in deltas]
    found = [
        CHECKER.check(cut, keep=keep).findings
        for cut, keep in ((chunks, True), ([b"".join(chunks)], False))
    ]
    one_by_one, in_bulk = ([f for f in each if f.rule in RULES] for each in found)
    assert one_by_one == in_bulk


UI = Checker("vercel.ui")
TRIED = {"thinking/stream/text-said-once"}


def steps(*texts: str, kind: str = "text", call_after: int = -1, end: bool = True) -> set[str]:
    """Each text in a part and a step of its own."""
    events: list[object] = [{"type": "start"}]
    for number, text in enumerate(texts):
        part = {"id": str(number)}
        half = len(text) // 2
        events += [
            {"type": "start-step"},
            {"type": f"{kind}-start", **part},
            {"type": f"{kind}-delta", **part, "delta": text[:half]},
            {"type": f"{kind}-delta", **part, "delta": text[half:]},
            *([{"type": f"{kind}-end", **part}] if end else []),
        ]
        if number == call_after:
            call = {"toolCallId": "c", "toolName": "look", "input": {}}
            events.append({"type": "tool-input-available", **call})
        events.append({"type": "finish-step"})
    return broken(UI, [*events, {"type": "finish"}])


@pytest.mark.parametrize(
    "texts",
    [
        ("The answer is ", "The answer is four."),
        ("The answer i", "The answer is four."),
        ("The answer is ", "The answer is ", "The answer is four."),
        ("Let me see.", "The answer is four,", "The answer is four, and no more."),
        ("Die Antwort lautet", "Die Antwort lautet: vier."),
        ("今天的答案是四因为二加二等于", "今天的答案是四因为二加二等于四。"),
    ],
)
@pytest.mark.parametrize("end", [True, False])
def test_a_try_that_is_left_next_to_the_next_is_found(texts: tuple[str, ...], *, end: bool) -> None:
    assert steps(*texts, end=end) == TRIED


def test_a_thought_that_was_tried_again_is_found() -> None:
    assert steps("Two and two make ", "Two and two make four.", kind="reasoning") == AGAIN
    assert steps("Two and two", "Two and two make four.", kind="reasoning") == set()


@pytest.mark.parametrize(
    "texts",
    [
        ("The answer is four.", "The answer is four. And five is next."),
        ("The answer is four.", "The answer is four."),
        ("The answer is", "The answer is"),
        ("Here it is:", "Here it is: four."),
        ("First step", "First step, then the second."),
        ("**The answer**", "**The answer** is four."),
        ("The answer is ", "This is four."),
        ("The answer is four of", "The answer is four"),
    ],
)
def test_what_a_model_may_say_again_is_not(texts: tuple[str, ...]) -> None:
    assert steps(*texts) == set()


def test_a_try_before_a_call_is_none() -> None:
    assert steps("The answer is ", "The answer is four.", call_after=0) == set()


def test_parts_that_are_open_side_by_side_are_not_tries() -> None:
    def said(name: str, text: str) -> dict[str, str]:
        return {"type": "text-delta", "id": name, "delta": text}

    opened = [{"type": "text-start", "id": name} for name in "ab"]
    ended = [{"type": "text-end", "id": name} for name in "ba"]
    deltas = [
        said("a", "The first town is "),
        said("b", "The first town is here, or"),
        said("a", "near."),
    ]
    events = [{"type": "start"}, {"type": "start-step"}, *opened, *deltas, *ended]
    assert broken(UI, [*events, {"type": "finish-step"}, {"type": "finish"}]) == set()


def test_pairs_of_one_word_are_counted_and_not_kept() -> None:
    pairs = _DeltaPairs()
    for _ in range(LONGEST):
        pairs.add("a word ")
    assert not pairs.are(3)
    assert len(pairs.text) <= LONGEST + len("a word ")
    for piece in ("and", "and", " others", " others"):
        pairs.add(piece)
    assert pairs.are(3)
