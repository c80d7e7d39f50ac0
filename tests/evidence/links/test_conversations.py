"""Talks of every API whose history is altered, and such whose history may be so."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.evidence.links import edits
from tests.evidence.links.talks import (
    TALKERS,
    broken,
    checked,
    history_of,
    talk,
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
    told = ("deepseek", "moonshot", "cohere", "ollama", "messages", "converse", "mistral")
    rows += [pytest.param(n, edits.cut(THOUGHT), id=f"{n}: thinking cut") for n in told]
    rows += [
        pytest.param(n, edits.swapped(*edits.THOUGHTS), id=f"{n}: thinking swapped") for n in told
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
