"""What a grammar means as a whole: has it words, does it refuse any, is every name of use.

The automaton is walked over the letters that can occur: an event always answers to every name of
its type that has no conditions. More names never make a word illegal, so the smallest letters
decide whether a grammar refuses anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from conformance.rules.alias import Alias
from conformance.rules.forms.grammar import Grammar
from conformance.rules.grammar import Automaton, Expression, TooManyStatesError, names
from conformance.rules.lint_events import is_delta
from conformance.rules.lint_texts import Fault
from conformance.rules.model import Rule
from conformance.rules.node import Node

LARGEST: Final = 100  # parts of a grammar that is still walked; shipped ones have below 20
MOST_STATES: Final = 512
_WORD: Final = re.compile(r"\[?[A-Za-z_][\w.\-]*\]?")

Letter = frozenset[str]


class Language(Struct, frozen=True):
    """Facts about a grammar. `is_known` is False where it is too large to be walked."""

    is_known: bool
    is_empty: bool = False  # not one word is legal, or only the one without events
    accepts_all: bool = False  # nothing it names can come at a wrong place
    useless: tuple[str, ...] = ()  # names that no legal word contains


def language(form: Grammar, aliases: Mapping[str, Alias]) -> Language:
    """Walks the grammar over the events that its names can be."""
    if size(form.root, LARGEST) > LARGEST:
        return Language(is_known=False)
    named = names(form.root)
    letters = _smallest_letters([aliases[name] for name in sorted(named)])
    try:
        steps = _walk_states(Automaton(form.root), letters)
    except TooManyStatesError:
        return Language(is_known=False)
    live = _live_states(steps)
    lively = {name for state in live for name, to in steps[state].by_name.items() if to in live}
    return Language(
        is_known=True,
        is_empty=not lively,
        accepts_all=_accepts_all(steps),
        useless=tuple(sorted(_written_names(form.text) - lively)),
    )


def size(node: Expression, limit: int) -> int:
    """How many parts an expression has; counting stops soon after `limit`."""
    total, open_ = 0, [node]
    while open_ and total <= limit:
        total += 1
        open_.extend(open_.pop().parts)
    return total


def counted(node: Expression) -> Iterator[str]:
    """Names inside a counted repetition that needs states of its own, `a{3}` but not `a{0,1}`."""
    if node.kind == "count" and node.high > 1:
        yield from sorted(names(node))
        return
    for part in node.parts:
        yield from counted(part)


class _WordState(Struct, frozen=True):
    """One state: whether a word may end here, where letters and names lead (-1: nowhere)."""

    accepts: bool
    by_letter: tuple[int, ...]
    by_name: Mapping[str, int]


def _walk_states(automaton: Automaton, letters: Iterable[Letter]) -> dict[int, _WordState]:
    found: dict[int, _WordState] = {}
    open_ = [automaton.start]
    while open_:
        state = open_.pop()
        if state in found:
            continue
        if len(found) >= MOST_STATES:
            raise TooManyStatesError(f"grammar met more than {MOST_STATES} states")
        by_name = {n: automaton.step(state, frozenset({n})) for n in sorted(automaton.alphabet)}
        following = tuple(automaton.step(state, letter) for letter in letters)
        found[state] = _WordState(automaton.accepts(state), following, by_name)
        open_.extend(to for to in (*by_name.values(), *following) if to >= 0)
    return found


def _accepts_all(steps: Mapping[int, _WordState]) -> bool:
    """Whether every word of letters is legal; a name alone may lead where no letter does."""
    seen, open_ = {0}, [0]
    while open_:
        step = steps[open_.pop()]
        if not step.accepts or -1 in step.by_letter:
            return False
        fresh = set(step.by_letter) - seen
        seen |= fresh
        open_ += fresh
    return True


def _live_states(steps: Mapping[int, _WordState]) -> set[int]:
    """States from which a word can still end well."""
    live = {state for state, step in steps.items() if step.accepts}
    grown = True
    while grown:
        more = {s for s, step in steps.items() if not live.isdisjoint(step.by_name.values())}
        grown = not more <= live
        live |= more
    return live


def _smallest_letters(aliases: list[Alias]) -> list[Letter]:
    """For every type: the names that all its events answer to; else each name by itself."""
    letters: set[Letter] = set()
    for kind in sorted({kind for alias in aliases for kind in alias.types}):
        named = [alias for alias in aliases if kind in alias.types]
        always = frozenset(alias.name for alias in named if not alias.conditions)
        letters |= {always} if always else {frozenset({alias.name}) for alias in named}
    # Only a pattern shows the types of these.
    letters |= {frozenset({alias.name}) for alias in aliases if not alias.types}
    return sorted(letters, key=sorted)


def _written_names(text: str) -> set[str]:
    return set(_WORD.findall(text))


def grammar_faults(rule: Rule, node: Node) -> Iterator[Fault]:
    """Faults of a rule whose form is a grammar."""
    form = rule.form
    if not isinstance(form, Grammar):
        return
    text = node.required("grammar")
    if not text.quoted:
        yield "error", text.error("a grammar needs quotes", hint="* and | mean things in YAML")
    yield from _meaning_faults(rule, form, text)
    costly = [name for name in counted(form.root) if is_delta(rule.aliases[name])]
    if costly and rule.view == "wire":
        message = f"a counted repetition of {costly[0]!r} costs every delta"
        yield "warning", text.error(message, hint="use * or + where the number does not matter")


def _meaning_faults(rule: Rule, form: Grammar, text: Node) -> Iterator[Fault]:
    found = language(form, rule.aliases)
    if not found.is_known:
        yield "warning", text.error("the grammar is too large to analyse")
    elif found.is_empty:
        yield "error", text.error("the grammar has no words: none of its events may ever come")
    else:
        if found.accepts_all:
            yield "error", text.error("the grammar accepts everything: the rule cannot fail")
        for name in found.useless:
            yield "error", text.error(f"no word of the grammar contains {name!r}")
