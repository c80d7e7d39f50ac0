from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.rules.alias import Alias
from conformance.rules.forms.grammar import Grammar
from conformance.rules.grammar import parse
from conformance.rules.language import counted, language

ALIASES = {name: Alias(name, f"type.{name}") for name in "ab"}
LONGEST = 8

grammars = st.recursive(
    st.sampled_from(["a", "b"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} {pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} | {pair[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{0}", "{2}", "{0,2}"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=4,
)


def accepted(text: str) -> list[str]:
    """Every word of up to LONGEST letters that the same regular expression of Python matches."""
    matches = re.compile(text.replace(" ", "")).fullmatch
    lengths = range(LONGEST + 1)
    return [
        w for n in lengths for letters in product("ab", repeat=n) if matches(w := "".join(letters))
    ]


@given(grammars)
def test_a_walk_agrees_with_trying_every_word(text: str) -> None:
    form = Grammar(parse(text), text)
    found = language(form, ALIASES)
    words = accepted(text)
    assert found.is_known
    assert found.is_empty == (not any(words))
    written = set(text) & set("ab")
    assert set(found.useless) == {name for name in written if not any(name in w for w in words)}
    if not found.useless:
        every = sum(len(written) ** n for n in range(LONGEST + 1))
        assert found.accepts_all == (len(words) == every)


def test_an_event_of_several_names_is_one_letter() -> None:
    # Every `b` is an `a` too: nothing can come at a wrong place.
    aliases = {"a": Alias("a", "t"), "b": Alias("b", "t", (("x", 1),))}
    assert language(Grammar(parse("a* b?"), "a* b?"), aliases).accepts_all
    assert not language(Grammar(parse("a* b?"), "a* b?"), ALIASES).accepts_all


def test_a_pattern_for_a_type_is_a_letter_of_its_own() -> None:
    aliases = {"a": Alias("a", {"not": "t"}), "b": Alias("b", "t")}
    assert not language(Grammar(parse("a* b?"), "a* b?"), aliases).accepts_all


HUGE = [
    "a " * 1000,
    "((a{1000}){1000}){1000} b",
    "(a{900} | b a{900} a){900}",
    "(" * 40 + "a" + ")*" * 40,
]


@pytest.mark.parametrize("text", HUGE, ids=range(4))
def test_a_huge_grammar_is_left_alone(text: str) -> None:
    found = language(Grammar(parse(text), text), ALIASES)
    assert found.is_known == text.startswith("((((")


@pytest.mark.parametrize(
    ("text", "names"), [("a{2} b", ["a"]), ("(a b{0,1}){3}", ["a", "b"]), ("a{0,1} b*", [])]
)
def test_names_inside_a_count_are_reported(text: str, names: list[str]) -> None:
    assert list(counted(parse(text))) == names
