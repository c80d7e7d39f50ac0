from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.report.printable import visible

CASES = [
    ("plain é 漢字", "plain é 漢字"),
    ("a\nb\tc", "a\\nb\\tc"),
    ("\x1b[31m", "\\x1b[31m"),
    ("\u202eabc", "\\u202eabc"),
    ("\ud800", "\\ud800"),
    ("no\xa0break", "no\\xa0break"),
    ("\u200b", "\\u200b"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "shown"), CASES)
def test_what_does_not_print_is_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_long_text_is_clipped_with_a_count() -> None:
    assert visible("x" * 12, limit=10) == "x" * 10 + "… (+2 characters)"
    assert visible("x" * 10, limit=10) == "x" * 10


@given(st.text(st.characters(exclude_categories=())), st.integers(0, 50))
def test_any_text_becomes_one_printable_line(text: str, limit: int) -> None:
    shown = visible(text, limit)
    assert shown.isprintable()
    assert len(shown) <= 10 * limit + 40
