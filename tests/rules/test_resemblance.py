"""Which words are nearly another one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.rules.resemblance import resembled

KNOWN = ("thinking", "text", "TEXT_MESSAGE_CONTENT", "part", "parts")


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("thinkng", "thinking"),
        ("thinkking", "thinking"),
        ("thinkimg", "thinking"),
        ("thinknig", "thinking"),
        ("Thinking", "thinking"),
        ("txt", "text"),
        ("TextMessageContent", "TEXT_MESSAGE_CONTENT"),
        ("text-message-contnt", "TEXT_MESSAGE_CONTENT"),
        ("partz", "part"),
        ("thought", ""),
        ("thinkn", ""),
        ("thikning_", "thinking"),
        ("te", ""),
        ("", ""),
        ("thinking" * 20, ""),
    ],
)
def test_a_word_is_nearly_another(word: str, near: str) -> None:
    assert resembled(word, KNOWN) == near


@pytest.mark.parametrize("word", KNOWN)
def test_a_word_is_not_itself_misspelt(word: str) -> None:
    assert resembled(word, (word,)) == ""


@given(st.text("abcd", min_size=4, max_size=8), st.integers(0, 7), st.sampled_from("abcde"))
def test_every_edit_of_one_letter_is_near(word: str, place: int, letter: str) -> None:
    place %= len(word)
    edits = {
        word[:place] + word[place + 1 :],
        word[:place] + letter + word[place:],
        word[:place] + letter + word[place + 1 :],
        word[:place] + word[place : place + 2][::-1] + word[place + 2 :],
    }
    assert {resembled(each, (word,)) for each in edits - {word}} <= {word}
