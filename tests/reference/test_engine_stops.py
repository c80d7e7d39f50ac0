from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reference_impl.server.engine.stops import StopSearch

WORDS = st.lists(st.text("ab", min_size=1, max_size=4), max_size=3)


def shown(search: StopSearch, pieces: list[str]) -> list[str]:
    texts = []
    for piece in pieces:
        texts.append(search.push(piece))
        if search.found is not None:
            return texts
    return [*texts, search.flush()]


def expected(text: str, stops: list[str]) -> tuple[str, str | None]:
    """The plain way: the word that ends first, of those the longest."""
    found = [(text.index(stop) + len(stop), -len(stop), stop) for stop in stops if stop in text]
    if not found:
        return text, None
    end, _, stop = min(found)
    return text[: end - len(stop)], stop


@given(st.lists(st.text("abc", max_size=5), max_size=8), WORDS)
def test_search_equals_plain_search_under_any_cutting(pieces: list[str], stops: list[str]) -> None:
    search = StopSearch(stops)
    texts = shown(search, pieces)
    assert ("".join(texts), search.found) == expected("".join(pieces), stops)


@given(st.text("ab", max_size=30), WORDS)
def test_no_more_is_held_than_may_become_a_stop_string(text: str, stops: list[str]) -> None:
    search = StopSearch(stops)
    given_out = ""
    for end, char in enumerate(text, 1):
        given_out += search.push(char)
        if search.found is not None:
            return
        held = text[len(given_out) : end]
        assert text[:end] == given_out + held
        assert not held or any(stop.startswith(held) for stop in stops)


def test_stop_string_is_not_found_across_a_flush() -> None:
    search = StopSearch(["END"])
    assert [search.push("xEN"), search.flush(), search.push("D")] == ["x", "EN", "D"]
    assert search.found is None


def test_long_hostile_word_is_searched_in_linear_steps() -> None:
    search = StopSearch(["a" * 50_000 + "b"])
    for _ in range(100):
        search.push("a" * 1_000)
    assert search.push("b") == ""
    assert search.found is not None
