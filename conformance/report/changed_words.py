"""Two texts word by word, with the words that only one of them has marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final, NamedTuple

_WORD: Final = re.compile(r"\s+|\w+|[^\w\s]")


class Words(NamedTuple):
    """A stretch of a text; `is_changed` where the other text has something else, or nothing."""

    text: str
    is_changed: bool


def changed_words(before: str, now: str) -> tuple[list[Words], list[Words]]:
    """Both texts in stretches. Time grows with the product of their lengths: give short ones."""
    old, new = _WORD.findall(before), _WORD.findall(now)
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    same_before = [(block.a, block.a + block.size) for block in blocks]
    same_now = [(block.b, block.b + block.size) for block in blocks]
    return [*_stretches(old, same_before)], [*_stretches(new, same_now)]


def _stretches(words: list[str], same: list[tuple[int, int]]) -> Iterator[Words]:
    at = 0
    for begin, end in same:
        if begin > at:
            yield Words("".join(words[at:begin]), is_changed=True)
        if end > begin:
            yield Words("".join(words[begin:end]), is_changed=False)
        at = end
