"""The text that came before a value: found as in the whole text, and bounded."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.rules.forms import fold_lacks_values
from conformance.rules.forms.fold_lacks_values import EarlierText

cuts = st.lists(st.integers(0, 40), max_size=12)


@given(st.text("ab", max_size=40), st.text("ab", min_size=1, max_size=5), cuts, st.booleans())
def test_needle_is_found_in_place(text: str, needle: str, at: list[int], in_a_run: bool) -> None:
    edges = sorted({0, len(text), *(cut for cut in at if cut < len(text))})
    pieces = [text[a:b] for a, b in pairwise(edges)]
    earlier = EarlierText()
    if in_a_run:
        earlier.add(text, 3, [len(piece) for piece in pieces])
    else:
        for number, piece in enumerate(pieces, 3):
            earlier.add(piece, number, (len(piece),))
    hit = earlier.find(needle)
    begin = text.find(needle)
    if begin < 0:
        assert hit is None
        return
    events = [number for number, piece in enumerate(pieces, 3) for _ in piece]
    assert hit is not None
    assert (hit.first, hit.last) == (events[begin], events[begin + len(needle) - 1])
    assert needle in hit.around


def test_only_the_last_text_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_lacks_values, "MOST_EARLIER", 10)
    earlier = EarlierText()
    for number in range(1_000):
        earlier.add("abc" if number else "first", number, (3 if number else 5,))
    assert len(earlier._pieces) == 4
    assert earlier.find("first") is None
    hit = earlier.find("cabcabcab")
    assert hit is not None
    assert (hit.first, hit.last) == (996, 999)
