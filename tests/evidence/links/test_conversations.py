"""Talks of every API whose history is altered, and such whose history may be so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

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

SEALED: Final = (
    *("messages", "responses", "google", "openrouter", "mistral", "gemini"),
    *("interactions", "converse"),
)
ITEMS: Final = ("responses", "interactions")  # an entry of the history is a part of a turn
ONE, TWO = edits.SEALS
THOUGHT: Final = edits.THOUGHTS[0]
TEXTS: Final[dict[str, Any]] = {
    "messages": lambda text: {"type": "text", "text": text},
    "responses": lambda text: {"role": "assistant", "content": text},
    "mistral": lambda text: {"type": "text", "text": text},
    "gemini": lambda text: {"text": text},
    "interactions": lambda text: {
        "type": "model_output",
        "content": [{"type": "text", "text": text}],
    },
    "converse": lambda text: {"text": text},
}


def rules_broken(name: str, exchange: int, edit: edits.Edit) -> set[str]:
    """What is found where the request of one exchange repeats the history otherwise."""
    talker = TALKERS[name]
    exchanges = talk(talker)
    key = talker.history
    at = exchange - 1
    changed = edit(history_of(exchanges[at], key))
    exchanges[at] = with_history(exchanges[at], key, changed)
    return broken(checked(exchanges, talker.dialect, talker.profile))


def mutants() -> list[Any]:
    made = {
        "lost": edits.lost(ONE),
        "cut": edits.cut(ONE),
        "signed anew": edits.signed_anew(TWO),
        "swapped between turns": edits.swapped(ONE, TWO),
        "moved to another turn": edits.moved(ONE, TWO),
    }
    rows = [pytest.param(n, e, id=f"{n}: {what}") for n in SEALED for what, e in made.items()]
    # A call of Chat Completions is no list of blocks.
    blocks = ("messages", "mistral", "gemini", "converse", *ITEMS)
    rows += [pytest.param(n, edits.doubled(ONE), id=f"{n}: doubled") for n in blocks]
    rows += [
        pytest.param(n, edits.turned_round(ONE), id=f"{n}: turned round")
        for n in ("messages", "converse", *ITEMS)
    ]
    rows += [
        pytest.param(n, edits.told_as_text(ONE, TEXTS[n]), id=f"{n}: told as text")
        for n in ("messages", "mistral", "converse", *ITEMS)
    ]
    merges = ("messages", "google", "openrouter", "mistral", "gemini", "converse", "deepseek")
    rows += [pytest.param(n, edits.joined(1, 3), id=f"{n}: two turns in one") for n in merges]
    names = ("deepseek", "moonshot", "cohere", "ollama", "messages", "converse", "mistral")
    rows += [pytest.param(n, edits.cut(THOUGHT), id=f"{n}: thinking cut") for n in names]
    rows += [
        pytest.param(n, edits.swapped(*edits.THOUGHTS), id=f"{n}: thinking swapped") for n in names
    ]
    rows += [
        pytest.param(n, edits.lost(THOUGHT), id=f"{n}: thinking lost")
        for n in ("deepseek", "moonshot", "ollama")
    ]
    return rows


@pytest.mark.parametrize(("name", "edit"), mutants())
def test_an_altered_turn_of_the_loop_is_found(name: str, edit: edits.Edit) -> None:
    assert rules_broken(name, 3, edit)


@pytest.mark.parametrize("name", SEALED)
@pytest.mark.parametrize("edit", [edits.cut(ONE), edits.signed_anew(ONE)], ids=["cut", "anew"])
def test_an_altered_turn_that_is_over_is_found(name: str, edit: edits.Edit) -> None:
    assert rules_broken(name, 4, edit)


@pytest.mark.parametrize("name", TALKERS)
@pytest.mark.parametrize(
    "edit",
    [edits.as_it_came, edits.decomposed, edits.with_unknown_keys],
    ids=["as it came", "another form of Unicode", "unknown keys"],
)
def test_a_history_that_says_the_same_is_right(name: str, edit: edits.Edit) -> None:
    assert rules_broken(name, 4, edit) == set()


@pytest.mark.parametrize("name", ["gemini", "interactions"])
def test_bytes_may_come_back_in_the_other_alphabet(name: str) -> None:
    spelled = edits.in_the_other_alphabet
    assert spelled(ONE) != ONE
    assert (
        rules_broken(name, 3, lambda history: edits.replaced(history, ONE, spelled(ONE))) == set()
    )


@pytest.mark.parametrize("name", TALKERS)
def test_turns_that_are_left_out_are_not_altered(name: str) -> None:
    turns = 3 if name in ITEMS else 2
    assert rules_broken(name, 4, edits.left_out(1, 1 + turns)) == set()


@pytest.mark.parametrize("name", ["messages", "deepseek", "converse", "cohere", "ollama"])
def test_thinking_of_turns_that_are_over_may_be_left_out(name: str) -> None:
    talker = TALKERS[name]
    last = talk(talker)[-1]
    entries = history_of(last, talker.history)
    assert any("hinking" in str(each) or "reasoning" in str(each) for each in entries)

    def without(history: edits.History) -> edits.History:
        return [_without_thinking(entry) for entry in history]

    expected = {"history/chat/kept-with-tools"} if name == "deepseek" else set()
    assert rules_broken(name, 4, without) == expected


def _without_thinking(entry: dict[str, Any]) -> dict[str, Any]:
    kept = {k: v for k, v in entry.items() if k not in ("thinking", "reasoning_content")}
    if isinstance(kept.get("content"), list):
        kept["content"] = [block for block in kept["content"] if not _is_thought(block)]
    return kept


def _is_thought(block: dict[str, Any]) -> bool:
    return block.get("type") == "thinking" or "reasoningContent" in block


THINKERS: Final[dict[str, Callable[[int], dict[str, Any]]]] = {
    "messages": lambda n: {"type": "thinking", "thinking": thought(n), "signature": seal(n)},
    "converse": lambda n: {
        "reasoningContent": {"reasoningText": {"text": thought(n), "signature": seal(n)}}
    },
}


def of_a_told_answer(name: str, order: tuple[int, int, int]) -> set[str]:
    """What is found where two blocks of thinking and a text, without a call, come back so."""
    talker = TALKERS[name]

    def body(turn: int) -> dict[str, Any]:
        made = talker.body(turn)
        if turn == 3:
            message = made if name == "messages" else made["output"]["message"]
            message["content"] = [*map(THINKERS[name], (8, 9)), *message["content"]]
        return made

    thinker = Talker(talker.dialect, talker.profile, body, talker.path)
    exchanges = talk(thinker)
    history = history_of(exchanges[3], talker.history)
    content = history[-2]["content"]
    assert len(content) == 3
    history[-2]["content"] = [content[at] for at in order]
    exchanges[3] = with_history(exchanges[3], talker.history, history)
    return broken(checked(exchanges, thinker.dialect, thinker.profile))


@pytest.mark.parametrize("name", THINKERS)
def test_blocks_of_thinking_keep_their_order_without_a_call(name: str) -> None:
    assert of_a_told_answer(name, (0, 1, 2)) == set()
    assert f"history/{name}/turn-signed" in of_a_told_answer(name, (1, 0, 2))


@pytest.mark.parametrize("name", THINKERS)
def test_nobody_asks_where_text_stands_between_thinking_that_keeps_its_order(name: str) -> None:
    """The documentation speaks of the blocks of thinking among themselves."""
    assert of_a_told_answer(name, (0, 2, 1)) == of_a_told_answer(name, (2, 0, 1)) == set()


TWO_SEALS: Final[dict[str, tuple[Callable[[dict[str, Any]], list[Any]], list[Any]]]] = {
    "messages": (
        lambda body: body["content"],
        [THINKERS["messages"](8), {"type": "redacted_thinking", "data": seal(9)}],
    ),
    "converse": (
        lambda body: body["output"]["message"]["content"],
        [THINKERS["converse"](8), {"reasoningContent": {"redactedContent": seal(9)}}],
    ),
    "openrouter": (
        lambda body: body["choices"][0]["message"]["reasoning_details"],
        [
            {"type": "reasoning.text", "index": 0, "text": thought(8), "signature": seal(8)},
            {"type": "reasoning.encrypted", "index": 1, "data": seal(9)},
        ],
    ),
    "responses": (
        lambda body: body["output"],
        [{"id": f"rs_{n}", "type": "reasoning", "summary": []} for n in (8, 9)],
    ),
}
IN_ORDER: Final = {
    "messages": "history/messages/blocks-in-order",
    "converse": "history/converse/blocks-in-order",
    "openrouter": "history/chat/details-in-order",
    "responses": "history/responses/items-in-order",
}


def of_two_seals(name: str, order: tuple[int, ...], exchange: int) -> set[str]:
    """What is found where the first turn thought twice, and this much of it comes back so."""
    talker = TALKERS[name]
    place, blocks = TWO_SEALS[name]

    def body(turn: int) -> dict[str, Any]:
        made = talker.body(turn)
        if turn == 1:
            place(made)[0:1] = blocks
        return made

    exchanges = talk(Talker(talker.dialect, talker.profile, body, talker.path))
    history = history_of(exchanges[exchange - 1], talker.history)
    around = _list_with(history, blocks[0])
    at = around.index(blocks[0])
    around[at : at + 2] = [blocks[each] for each in order]
    exchanges[exchange - 1] = with_history(exchanges[exchange - 1], talker.history, history)
    return broken(checked(exchanges, talker.dialect, talker.profile))


def _list_with(value: Any, element: Any) -> list[Any]:
    """The list in which an element stands."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, list) and element in value:
        return value
    found = (_list_with(each, element) for each in inner)
    return next((each for each in found if each), [])


@pytest.mark.parametrize("name", TWO_SEALS)
@pytest.mark.parametrize("exchange", [2, 3, 4])
def test_what_one_turn_thought_of_two_kinds_keeps_its_order(name: str, exchange: int) -> None:
    assert of_two_seals(name, (0, 1), exchange) == set()
    assert of_two_seals(name, (1, 0), exchange) == {IN_ORDER[name]}


@pytest.mark.parametrize("name", TWO_SEALS)
@pytest.mark.parametrize("order", [(), (0,), (1,)], ids=["both", "second", "first"])
def test_what_is_left_out_of_a_turn_has_no_order(name: str, order: tuple[int, ...]) -> None:
    assert IN_ORDER[name] not in of_two_seals(name, order, 3) | of_two_seals(name, order, 4)


@pytest.mark.parametrize("signature", ["", "of a client"])
def test_details_of_a_client_s_own_are_no_changed_text(signature: str) -> None:
    """An agent keeps `reasoning_content` as an unsigned detail: nothing of the text was signed."""

    def as_details(history: edits.History) -> edits.History:
        return [_with_details(entry, signature) for entry in history]

    found = rules_broken("deepseek", 4, as_details)
    assert ("history/chat/earlier-details-signed" in found) is bool(signature)
    assert "history/chat/details-text-unchanged" not in found


def _with_details(entry: dict[str, Any], signature: str) -> dict[str, Any]:
    kept = {k: v for k, v in entry.items() if k != "reasoning_content"}
    if "reasoning_content" not in entry:
        return kept
    signed = {"signature": signature} if signature else {}
    return {**kept, "reasoning_details": [{"text": entry["reasoning_content"], **signed}]}


ONE_CAUSE: Final = [
    ("messages", edits.lost(ONE), "history/messages/signed-unchanged"),
    ("converse", edits.lost(ONE), "history/converse/signed-unchanged"),
    ("gemini", edits.lost(ONE), "history/gemini/signed-unchanged"),
    ("messages", edits.doubled(ONE), "history/messages/signed-unchanged"),
    ("responses", edits.doubled(ONE), "history/responses/ids-distinct"),
    ("openrouter", edits.cut(THOUGHT), "history/chat/details-text-unchanged"),
    ("mistral", edits.lost(ONE), "history/mistral/signature-unchanged"),
]


@pytest.mark.parametrize(("name", "edit", "rule"), ONE_CAUSE)
def test_what_is_lost_of_one_turn_is_one_finding(name: str, edit: edits.Edit, rule: str) -> None:
    assert rules_broken(name, 3, edit) - rules_broken(name, 3, edits.as_it_came) == {rule}


@pytest.mark.parametrize("name", ["messages", "converse", "gemini"])
def test_what_is_lost_of_one_turn_is_no_second_finding_of_a_later_request(name: str) -> None:
    talker, exchanges = TALKERS[name], talk(TALKERS[name])
    for at in (1, 2, 3):
        history = edits.lost(ONE)(history_of(exchanges[at], talker.history))
        exchanges[at] = with_history(exchanges[at], talker.history, history)
    results = checked(exchanges, talker.dialect, talker.profile)
    found = [(each.exchange, f.rule) for each in results for f in each.findings]
    assert [each for each in found if each[1].startswith("history/")] == [
        (2, f"history/{name}/signed-unchanged")
    ]


@pytest.mark.parametrize("name", ["messages", "interactions", "converse"])
def test_what_is_altered_in_another_turn_is_a_finding_of_its_own(name: str) -> None:
    """The seal of one turn and the text of the other one."""

    def both(history: edits.History) -> edits.History:
        return edits.replaced(edits.cut(ONE)(history), thought(2), thought(2)[:-6])

    kept = "summary" if name == "interactions" else "text"
    found = rules_broken(name, 3, both)
    assert {f"history/{name}/signed-unchanged", f"history/{name}/{kept}-unchanged"} <= found


def test_mistral_blames_no_must_where_thinking_of_a_turn_that_is_over_is_left_out() -> None:
    found = rules_broken("mistral", 4, edits.lost(ONE))
    assert found == {"history/mistral/turn-signed"}
