"""Characters that a stream tore in two halves.

A server that counts in UTF-16 may end a delta in the middle of a character, and JSON lets it. Half
a character is held back until the other half comes, and is U+FFFD where none does.
"""

from __future__ import annotations

import re
from typing import Any, Final

_HALF: Final = re.compile("[\ud800-\udfff]")
Place = tuple[Any, ...]
_FIRST: Final = re.compile("[\ud800-\udbff]\\Z")


def whole(text: str) -> str:
    """The text with halves joined, or replaced where they stand alone."""
    if text.isascii() or not _HALF.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Halves:
    """First halves that wait for the next delta of the same place."""

    def __init__(self) -> None:
        self._held: dict[Place, str] = {}

    def join(self, place: Place, text: str) -> str:
        """The text of a delta, without a half at its end and with the one before it."""
        text = self._held.pop(place, "") + text if self._held else text
        if not text.isascii() and _FIRST.search(text):
            self._held[place], text = text[-1], text[:-1]
        return whole(text)

    def release(self) -> list[Place]:
        """The places at which a half is still waiting; none afterwards."""
        places = list(self._held)
        self._held.clear()
        return places
