"""The words of two texts that differ are marked, and nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.report.changed_words import Words, changed_words


def marked(words: list[Words]) -> str:
    return "".join(f"[{each.text}]" if each.is_changed else each.text for each in words)


@pytest.mark.parametrize(
    ("before", "now", "marked_before", "marked_now"),
    [
        ("the old bridge", "the new bridge", "the [old] bridge", "the [new] bridge"),
        ("at four.", "at a quarter past four.", "at four.", "at[ a quarter past] four."),
        ("one", "", "[one]", ""),
        ("", "", "", ""),
        ("same", "same", "same", "same"),
        ("four", "fourteen", "[four]", "[fourteen]"),
    ],
)
def test_own_words_are_marked(before: str, now: str, marked_before: str, marked_now: str) -> None:
    one, other = changed_words(before, now)
    assert (marked(one), marked(other)) == (marked_before, marked_now)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.text(max_size=60), st.text(max_size=60))
def test_nothing_is_lost_and_what_is_not_marked_is_the_same(before: str, now: str) -> None:
    one, other = changed_words(before, now)
    assert "".join(each.text for each in one) == before
    assert "".join(each.text for each in other) == now
    unmarked = ["".join(e.text for e in each if not e.is_changed) for each in (one, other)]
    assert unmarked[0] == unmarked[1]
