"""Streaming search: the same first hit as in the whole text, however it is cut."""

from __future__ import annotations

import sys
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from conformance.rules.forms.texts import BEFORE, Hit, Needles, Search, difference

texts = st.text("ab<é", max_size=40)
needles = st.lists(st.text("ab<é", min_size=1, max_size=6), min_size=1, max_size=4)
cuts = st.lists(st.integers(0, 40), max_size=12)


def pieces_of(text: str, at: list[int]) -> list[str]:
    """The text in non-empty pieces, cut at these places."""
    edges = sorted({0, len(text), *(cut for cut in at if cut < len(text))})
    return [text[a:b] for a, b in pairwise(edges)]


def streamed(search: Search, pieces: list[str], first: int = 1) -> Hit | None:
    for number, piece in enumerate(pieces, first):
        if hit := search.feed(piece, number):
            return hit
    return None


def event_of(pieces: list[str], position: int) -> int:
    """The number of the piece that holds a character."""
    return next(n for n in range(1, len(pieces) + 1) if position < len("".join(pieces[:n])))


@given(texts, st.text("ab<é", min_size=1, max_size=6), cuts)
def test_one_needle_is_found_as_in_the_whole_text(text: str, needle: str, at: list[int]) -> None:
    pieces = pieces_of(text, at)
    hit = streamed(Search(Needles.of([needle])), pieces)
    start = text.find(needle)
    if start < 0:
        assert hit is None
        return
    assert hit is not None
    assert hit.needle == needle
    assert needle in hit.around
    assert hit.first == event_of(pieces, start)
    assert hit.last == event_of(pieces, start + len(needle) - 1)


@given(texts, needles, cuts)
@example("abcdef", ["abcdef", "cd"], [4])
def test_first_needle_to_end_is_found(text: str, wanted: list[str], at: list[int]) -> None:
    pieces = pieces_of(text, at)
    hit = streamed(Search(Needles.of(wanted)), pieces)
    found = [(text.find(n) + len(n), text.find(n), n) for n in wanted if n in text]
    if not found:
        assert hit is None
        return
    end, start, needle = min(found)
    assert hit is not None
    assert (hit.needle, hit.first, hit.last) == (
        needle,
        event_of(pieces, start),
        event_of(pieces, end - 1),
    )


@given(texts, cuts, texts, cuts, needles, st.text("ab<é", min_size=1, max_size=6))
@example("xa", [1], "b", [], ["a<é<a<"], "ab")
def test_a_needle_added_later_is_found_in_what_comes_later_only(
    before: str, cut: list[int], after: str, cut_after: list[int], old: list[str], new: str
) -> None:
    search = Search(Needles.of(old))
    first, second = pieces_of(before, cut), pieces_of(after, cut_after)
    hit = streamed(search, first)
    if hit is not None:
        return
    search.add(new)
    hit = streamed(search, second, len(first) + 1)
    ends = [(before + after).find(n) + len(n) for n in old if n in before + after]
    if new in after and new not in old:
        ends.append(len(before) + after.find(new) + len(new))
    if not ends:
        assert hit is None
        return
    assert hit is not None
    assert hit.last == len(first) + event_of(second, min(ends) - len(before) - 1)


def test_what_is_kept_does_not_grow_with_the_text() -> None:
    search = Search(Needles.of(["needle" * 10]))
    most = 0
    for number in range(20_000):
        assert search.feed("need", number) is None
        most = max(most, len(search._kept))
    assert most <= len("needle" * 10) + BEFORE
    assert sys.getsizeof(search._ends) < 2_000


@given(texts, texts)
def test_difference_is_at_the_first_character_that_differs(left: str, right: str) -> None:
    at, had, has = difference(left, right)
    assert left[:at] == right[:at]
    assert left[at : at + 1] != right[at : at + 1] or left == right
    assert (had == has) == (left == right)


def test_letters_that_look_the_same_are_reported_by_code_point() -> None:
    assert difference("\u00e9", "e\u0301") == (0, "'\u00e9' (U+00E9)", "'e\u0301' (U+0065)")
