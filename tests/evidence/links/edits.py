"""Edits of a history: what clients do to it, and what they may do."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.evidence.links.talks import TEXT, seal, thought

History = list[Any]
Edit = Callable[[History], History]


def _holders(value: Any, leaf: str) -> Iterator[tuple[Any, Any]]:
    """Every container that holds the leaf, and under what, the innermost first."""
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, each in list(pairs):
        if each == leaf:
            yield value, key
        elif isinstance(each, dict | list):
            found = list(_holders(each, leaf))
            yield from found
            if found:
                yield value, key


def _lists(history: History, leaf: str) -> tuple[list[Any], int]:
    """The innermost list with several elements around the leaf, and the place of it there."""
    several = [(h, k) for h, k in _holders(history, leaf) if isinstance(h, list) and len(h) > 1]
    return several[0]


def replaced(history: History, old: str, new: Any) -> History:
    for holder, key in list(_holders(history, old)):
        if holder[key] == old:
            holder[key] = new
    return history


def lost(leaf: str) -> Edit:
    def edit(history: History) -> History:
        holder, key = next(_holders(history, leaf))
        del holder[key]
        return history

    return edit


def cut(leaf: str) -> Edit:
    return lambda history: replaced(history, leaf, leaf[:-6])


def signed_anew(leaf: str) -> Edit:
    return lambda history: replaced(history, leaf, leaf[::-1])


def swapped(one: str, other: str) -> Edit:
    def edit(history: History) -> History:
        replaced(history, one, "-")
        replaced(history, other, one)
        return replaced(history, "-", other)

    return edit


def doubled(leaf: str) -> Edit:
    """The innermost element that holds the leaf stands twice."""

    def edit(history: History) -> History:
        around, at = _lists(history, leaf)
        around.insert(at, around[at])
        return history

    return edit


def turned_round(leaf: str) -> Edit:
    """What holds the leaf goes behind its neighbour."""

    def edit(history: History) -> History:
        around, at = _lists(history, leaf)
        around[at], around[at + 1] = around[at + 1], around[at]
        return history

    return edit


def moved(leaf: str, other: str) -> Edit:
    """The leaf goes to where another one is, and that behind it."""

    def edit(history: History) -> History:
        holder, key = next(_holders(history, leaf))
        del holder[key]
        return replaced(history, other, other + leaf)

    return edit


def told_as_text(leaf: str, text: Callable[[str], Any]) -> Edit:
    """The element that holds the leaf is dropped; what it thought is kept as text."""

    def edit(history: History) -> History:
        around, at = next(pair for pair in _holders(history, leaf) if isinstance(pair[0], list))
        around[at] = text(thought(1))
        return history

    return edit


def joined(first: int, second: int) -> Edit:
    """Two turns become one: lists are joined, texts and results, too."""

    def edit(history: History) -> History:
        for at in (first, first + 1):
            gap = second - first
            history[at] = _merged(history[at], history[at + gap])
        del history[second : second + 2]
        return history

    return edit


def _merged(one: Any, other: Any) -> Any:
    made = {**one}
    for key, value in other.items():
        if isinstance(value, list) and isinstance(one.get(key), list):
            made[key] = [*one[key], *value]
        elif isinstance(value, str) and key not in ("role", "type"):
            made[key] = f"{one.get(key) or ''}{value}"
    return made


def left_out(first: int, last: int) -> Edit:
    """Entries are left out, as where a talk grew too long."""
    return lambda history: [*history[:first], *history[last:]]


def decomposed(history: History) -> History:
    """The text that was said, in another form of Unicode and with more white space."""
    return replaced(history, TEXT, unicodedata.normalize("NFD", f"{TEXT}\n"))


def with_unknown_keys(history: History) -> History:
    return [{**each, "x_note": {"cached": True}} for each in history]


def in_the_other_alphabet(leaf: str) -> str:
    """Base64 as it is spelled for URLs, without padding."""
    return leaf.translate(str.maketrans("+/", "-_", "="))


def as_it_came(history: History) -> History:
    return history


SEALS: Final = (seal(1), seal(2))
THOUGHTS: Final = (thought(1), thought(2))
