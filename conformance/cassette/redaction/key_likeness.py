"""Whether a text looks drawn at random, as keys are, or is made of words, as other values are.

A text is split into pieces at its punctuation.
Rule 1: a piece is plain if it is a pronounceable word (letters of one case, or capitalised), a
number of at most 13 digits, or a short word with a number before or after it (`gpt4o`, `70B`,
`v2`). A plain piece is not next to `<`, `!` or `$`, and not padded with zeros.
Rule 2: a text of plain pieces is not a key, however long: a name of a model, a region, a version, a
date, a host, a purpose. Rows of hexadecimal digits (a UUID) are a key, whatever their pieces.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

_SHORTEST: Final = 8
_LONGEST: Final = 512  # characters that are looked at
_PIECE: Final = re.compile(r"[A-Za-z0-9]+")
_HEXADECIMAL: Final = re.compile(r"(?=[^0-9]*[0-9])(?=[^a-fA-F]*[a-fA-F])[0-9a-fA-F-]{16,}")
_NUMBER: Final = re.compile(r"(?!0[0-9]{4})[0-9]{1,13}")
_STRANGE: Final = re.compile(r"[<>!$^|~*]")
_NUMBERED: Final = re.compile(
    r"(?:[A-Z]?[a-z]{1,9}|[A-Z]{1,5})[0-9]{1,4}|(?:[A-Z]?[a-z]{2,9}|[A-Z]{2,5})[0-9]{1,4}[A-Za-z]"
    r"|[0-9]{1,4}(?:[a-z]{1,4}|[A-Z]{1,4})"
    r"|[0-9]x[0-9]{1,3}[a-zA-Z]"
)
_TIME: Final = re.compile(r"[0-9]{1,8}T[0-9]{1,6}Z?|[0-9]{2}Z")
_CAPITALS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LONGEST_WORD: Final = 24
_LEAST_PART: Final = 3.0  # letters of a word in a name such as `maxTokensPerTurn`, on average
_PAIRS: Final = (
    "a:bcdefgiklmnprstuvwxy b:abcdeijlmoprstuy c:abcdefhiklmnoprstuvy "
    "d:abcdefghilmnoprstuvwy e:abcdefghiklmnopqrstuvwxy f:acdefgilmoprstuy "
    "g:aceghilmnoprstuv h:adeilmnorstuy i:abcdefgjklmnoprstvxz j:aeklou k:acdegilnostuw "
    "l:abcdefgiklmnoprstuvyz m:abcdeiklmnoprstuy n:abcdefghiklmnoprstuvy "
    "o:abcdefghiklmnoprstuvwxz p:acdefhiklnopqrstuwy q:ru r:abcdefgiklmnoprstuvwy "
    "s:abcdefghiklmnoprstuvwy t:abcdefhilmnoprstuvwyz u:abcdefgilmnoprst v:aeimo "
    "w:acdefhilnorst x:acehijlmopsty y:abcdefilmnoprstw z:aceiox "
)
# Which letters follow a letter in at least 8 of 8,857 English words (prose and code, 2026-11-27).
_FOLLOWING: Final = dict(each.split(":") for each in _PAIRS.split())
_ABBREVIATION: Final = 4  # letters that may be those of several words
_MANY: Final = 3  # words in a row, joined by marks, that nothing else has
_MOST_ODD: Final = 1  # pairs of letters that do not follow each other so


@lru_cache(maxsize=1024)
def is_key_like(text: str, shortest: int = _SHORTEST) -> bool:
    """Whether it has so many characters, and was more likely drawn than chosen."""
    if len(text) < shortest:
        return False
    if not text.isascii():
        return True  # of other alphabets nothing is known
    head = text[:_LONGEST]
    pieces = _PIECE.findall(head)
    if _HEXADECIMAL.fullmatch(head) or _STRANGE.search(head) or not all(map(_is_plain, pieces)):
        return True
    return sum(map(_odd_pairs, pieces)) > _MOST_ODD + len(head) // 24


def is_unmistakable(text: str) -> bool:
    """Whether no other text is spelled so by chance, not even as a part of something longer."""
    return is_key_like(text, shortest=1) or len(_PIECE.findall(text)) >= _MANY


def _is_plain(piece: str) -> bool:
    if not piece.isalpha():
        return any(kind.fullmatch(piece) for kind in (_NUMBER, _NUMBERED, _TIME))
    parts = _CAPITALS.findall(piece)
    is_name = len(parts) == 1 or len(piece) >= _LEAST_PART * len(parts)
    return is_name and len(piece) <= _LONGEST_WORD


def _odd_pairs(piece: str) -> int:
    """How many pairs of letters hardly any word has."""
    words = (part.lower() for part in _CAPITALS.findall(piece) if len(part) > _ABBREVIATION)
    return sum(b not in _FOLLOWING[a] for word in words for a, b in pairwise(word))
