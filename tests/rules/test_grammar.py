"""The automaton against a matcher that is slow and obviously right."""

from __future__ import annotations

from itertools import product
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance.rules import grammar
from conformance.rules.grammar import Automaton, Expression, GrammarError, TooManyStatesError, parse

Tree = tuple[object, ...]
Letter = frozenset[str]

NAMES: Final = ("a", "b", "c")
LONGEST: Final = 5


# --- the oracle: a grammar as a tree, matched by trying every way to cut the word


def ends(tree: Tree, word: tuple[Letter, ...], start: int) -> frozenset[int]:
    """Every position at which a match that begins at `start` may end."""
    kind, *rest = tree
    if kind == "name":
        here = start < len(word) and rest[0] in word[start]
        return frozenset({start + 1}) if here else frozenset()
    if kind == "alt":
        return frozenset().union(*(ends(each, word, start) for each in _trees(rest)))
    if kind == "seq":
        reached = frozenset({start})
        for each in _trees(rest):
            reached = frozenset().union(*(ends(each, word, at) for at in reached))
        return reached
    (inner, low, high) = rest
    assert isinstance(inner, tuple)
    assert isinstance(low, int)
    return _repeated(inner, word, start, low, high if isinstance(high, int) else len(word) + low)


def _repeated(
    inner: Tree, word: tuple[Letter, ...], start: int, low: int, high: int
) -> frozenset[int]:
    reached = [frozenset({start})]
    for _ in range(high):
        reached.append(frozenset().union(*(ends(inner, word, at) for at in reached[-1])))
    return frozenset().union(*reached[low : high + 1])


def _trees(parts: list[object]) -> list[Tree]:
    return [part for part in parts if isinstance(part, tuple)]


def spells(tree: Tree, word: tuple[Letter, ...]) -> bool:
    return len(word) in ends(tree, word, 0)


def shortest(tree: Tree) -> int:
    """How many events the shortest word has."""
    kind, *rest = tree
    if kind == "name":
        return 1
    if kind == "alt":
        return min(map(shortest, _trees(rest)))
    if kind == "seq":
        return sum(map(shortest, _trees(rest)))
    inner, low, _ = rest
    assert isinstance(inner, tuple)
    assert isinstance(low, int)
    return low * shortest(inner)


def begins_a_word(tree: Tree, word: tuple[Letter, ...], more: int) -> bool:
    """Whether up to `more` further events, each answering to one name, complete it."""
    tails = (tail for n in range(more + 1) for tail in product(NAMES, repeat=n))
    return any(spells(tree, (*word, *(frozenset({name}) for name in tail))) for tail in tails)


def written(tree: Tree) -> str:
    kind, *rest = tree
    if kind == "name":
        return str(rest[0])
    if kind == "alt":
        return f"({' | '.join(map(written, _trees(rest)))})"
    if kind == "seq":
        return f"({' '.join(map(written, _trees(rest)))})"
    inner, low, high = rest
    assert isinstance(inner, tuple)
    marks: dict[tuple[object, object], str] = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    exact = f"{{{low}}}" if low == high else f"{{{low},{high}}}"
    return written(inner) + marks.get((low, high), exact)


def automaton_of(tree: Tree) -> Automaton:
    return Automaton(parse(written(tree)))


def run(automaton: Automaton, word: tuple[Letter, ...]) -> int:
    """The state after the word; -1 from the first event that may not come on."""
    state = automaton.start
    for letter in word:
        state = automaton.step(state, letter)
        if state < 0:
            return -1
    return state


counts = st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (0, 2), (1, 2), (1, 3), (0, 0)])
trees: st.SearchStrategy[Tree] = st.recursive(
    st.sampled_from(NAMES).map(lambda name: ("name", name)),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: ("alt", *parts)),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: ("seq", *parts)),
        st.tuples(inner, counts).map(lambda pair: ("repeat", pair[0], *pair[1])),
    ),
    max_leaves=6,
)
letters = st.frozensets(st.sampled_from(NAMES), min_size=1, max_size=2)
words = st.lists(letters, max_size=LONGEST).map(tuple)


A: Final[Tree] = ("name", "a")


@given(trees, words)
@example(("repeat", ("repeat", A, 0, 1), 2, 2), ())
@example(("repeat", ("repeat", A, 0, 1), 2, 3), (frozenset("a"),) * 3)
@example(("repeat", ("repeat", A, 2, 2), 0, None), (frozenset("a"),) * 3)
@example(("seq", ("repeat", A, 0, None), ("alt", A, ("name", "b"))), (frozenset("ab"),))
@settings(deadline=None)
def test_automaton_accepts_what_the_oracle_spells(tree: Tree, word: tuple[Letter, ...]) -> None:
    automaton = automaton_of(tree)
    state = run(automaton, word)
    assert (state >= 0 and automaton.accepts(state)) == spells(tree, word)


@settings(deadline=None)
@given(trees)
def test_every_short_word_of_single_names_agrees(tree: Tree) -> None:
    automaton = automaton_of(tree)
    for length in range(4):
        for names in product(NAMES, repeat=length):
            word = tuple(frozenset({name}) for name in names)
            state = run(automaton, word)
            assert (state >= 0 and automaton.accepts(state)) == spells(tree, word)


small_counts = st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (1, 2)])
small_trees: st.SearchStrategy[Tree] = st.recursive(
    st.sampled_from(NAMES).map(lambda name: ("name", name)),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=2).map(lambda parts: ("alt", *parts)),
        st.lists(inner, min_size=2, max_size=2).map(lambda parts: ("seq", *parts)),
        st.tuples(inner, small_counts).map(lambda pair: ("repeat", pair[0], *pair[1])),
    ),
    max_leaves=4,
).filter(lambda tree: longest_need(tree) <= LONGEST)


def longest_need(tree: Tree) -> int:
    """Most events that may still be missing from any beginning of a word."""
    kind, *rest = tree
    if kind == "name":
        return 1
    if kind == "alt":
        return max(map(longest_need, _trees(rest)))
    if kind == "seq":
        return sum(map(longest_need, _trees(rest)))
    inner, low, high = rest
    assert isinstance(inner, tuple)
    assert isinstance(low, int)
    return longest_need(inner) * max(1, high if isinstance(high, int) else low)


@settings(deadline=None)
@given(small_trees, st.lists(letters, max_size=3).map(tuple))
def test_letter_is_refused_only_where_no_word_fits(tree: Tree, word: tuple[Letter, ...]) -> None:
    assert (run(automaton_of(tree), word) >= 0) == begins_a_word(tree, word, LONGEST)


@settings(deadline=None)
@given(small_trees, st.lists(letters, max_size=2).map(tuple))
def test_expected_names_are_those_that_can_follow(tree: Tree, word: tuple[Letter, ...]) -> None:
    automaton = automaton_of(tree)
    state = run(automaton, word)
    if state < 0:
        return
    follow = {n for n in NAMES if begins_a_word(tree, (*word, frozenset({n})), LONGEST)}
    assert set(automaton.expected(state)) == follow


@given(trees)
def test_brackets_do_not_change_what_is_read(tree: Tree) -> None:
    assert parse(f"(({written(tree)}))") == parse(written(tree))


pieces = st.sampled_from(
    ["a", "b.c", "[DONE]", "part-1", "{2}", "{1,2}", "{2,1}", *"|*+?()${}[],1é\n "]
)


@given(st.lists(pieces, max_size=10).map("".join))
def test_any_text_is_a_grammar_or_refused_at_a_column_inside_it(text: str) -> None:
    refused = None
    try:
        parse(text)
    except GrammarError as err:
        refused = err
    if refused is not None:
        assert 0 <= refused.column <= len(text)
        assert "\n" not in str(refused)
    else:
        assert "zz" in grammar.names(parse(text + " zz"))


PLACES = [
    ("a $", 2, "unexpected '$'"),
    ("a   $ b", 4, "unexpected '$'"),
    ("", 0, "expected an event name or a group"),
    ("   ", 3, "expected an event name or a group"),
    ("| a", 0, "expected an event name or a group"),
    ("a |", 3, "expected an event name or a group"),
    ("a | | b", 4, "expected an event name or a group"),
    ("()", 1, "expected an event name or a group"),
    ("* a", 0, "unexpected '*'"),
    ("a (b {2}) c)", 11, "unexpected ')'"),
    ("a (b", 2, "a group is not closed"),
    ("a{2,1}", 1, "a count goes from low to high, at most 1000"),
    ("a {1001}", 2, "a count goes from low to high, at most 1000"),
    ("{2} a", 0, "unexpected '{2}'"),
    ("a{2,} b", 1, "unexpected '{'"),
    ("a 1b", 2, "unexpected '1'"),
    ("(" * 60 + "a" + ")" * 60, 52, "groups nest deeper than 50"),
]


@pytest.mark.parametrize(("text", "column", "message"), PLACES)
def test_a_broken_grammar_is_refused_where_it_breaks(text: str, column: int, message: str) -> None:
    with pytest.raises(GrammarError) as caught:
        parse(text)
    assert (str(caught.value), caught.value.column) == (message, column)


def test_states_are_numbered_once_however_long_the_stream_is() -> None:
    automaton = Automaton(parse("(a b* c)* d?"))
    word = ("a", "b", "b", "c") * 500
    states = set()
    state = automaton.start
    for name in word:
        state = automaton.step(state, frozenset({name}))
        states.add(state)
    assert len(states) <= 4


def test_states_are_capped() -> None:
    automaton = Automaton(parse("(a | b)* a (a | b){13}"))
    seed = 1
    word = []
    for _ in range(20_000):
        seed = seed * 48_271 % (2**31 - 1)
        word.append(frozenset({"ab"[seed >> 7 & 1]}))
    with pytest.raises(TooManyStatesError, match="4096 states"):
        run(automaton, tuple(word))


def test_a_thousand_repeats_are_one_step_each() -> None:
    automaton = Automaton(parse("a{1000}"))
    assert automaton.accepts(run(automaton, (frozenset({"a"}),) * 1000))


def test_no_expression_is_empty_once_parsed() -> None:
    node: Expression = parse("a{0} b?")
    assert node.kind != "empty"
    assert grammar.nullable(node)
