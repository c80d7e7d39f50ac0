"""One spelling for texts that read the same."""

from __future__ import annotations

import unicodedata
from typing import Final

_PLAIN: Final = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_STANDARD: Final = str.maketrans("-_", "+/", "=")


def one_spelling(text: str) -> str:
    """The text without white space, in one form of Unicode, with straight quotes.

    Clients trim, stores normalise, and recorders straighten quotes in some bodies only.
    """
    packed = "".join(text.split())
    return packed if packed.isascii() else unicodedata.normalize("NFC", packed).translate(_PLAIN)


def one_alphabet(text: str) -> str:
    """Base64 in the standard alphabet and without padding: readers take both, clients change it."""
    return text.translate(_STANDARD)
