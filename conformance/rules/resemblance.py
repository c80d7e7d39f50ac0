"""Whether a word is nearly another one: misspelt by one letter, or only written otherwise.

`thinkng` and `thinknig` are nearly `thinking`, `TextMessageContent` is `TEXT_MESSAGE_CONTENT`
written otherwise. Short words are nearly many others, so they resemble none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_SHORTEST: Final = 4
_LONGEST: Final = 100
_JOINTS: Final = str.maketrans("", "", "_-./ ")


def resembled(word: str, known: tuple[str, ...]) -> str:
    """The first of the known words that the word is not, but nearly is; empty where none is."""
    return _resembled_word(word, known) if _SHORTEST - 1 <= len(word) <= _LONGEST else ""


@lru_cache(maxsize=4096)
def _resembled_word(word: str, known: tuple[str, ...]) -> str:
    plain = _plain_spelling(word)
    near = (
        each for each in known if len(each) >= _SHORTEST and _is_near(plain, _plain_spelling(each))
    )
    return next((each for each in near if each != word), "")


def _plain_spelling(word: str) -> str:
    return word.translate(_JOINTS).lower()


def _is_near(one: str, other: str) -> bool:
    """Whether one edit leads from one word to the other: a letter more, less, other, or swapped."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    if len(longer) - len(shorter) > 1:
        return False
    pairs = enumerate(zip(shorter, longer, strict=False))
    at = next((n for n, (one, other) in pairs if one != other), len(shorter))
    if len(shorter) < len(longer):
        return shorter[at:] == longer[at + 1 :]
    is_swapped = shorter[at : at + 2] == longer[at : at + 2][::-1]
    return shorter[at + 1 :] == longer[at + 1 :] or (
        is_swapped and shorter[at + 2 :] == longer[at + 2 :]
    )
