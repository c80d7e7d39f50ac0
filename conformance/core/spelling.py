"""A text in one spelling: what is read alike is written alike."""

from __future__ import annotations

import unicodedata


def one_spelling(text: str) -> str:
    """The text without white space, in one form of Unicode: clients trim, stores normalise."""
    packed = "".join(text.split())
    return packed if packed.isascii() else unicodedata.normalize("NFC", packed)
