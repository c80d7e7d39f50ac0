"""Markers of token text, found under any chunking."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

START: Final = "start"
MESSAGE: Final = "message"
STOPS: Final = frozenset({"return", "call"})
"""What stops the model: nothing of it comes after one of these."""
ENDS: Final = STOPS | {"end"}
"""What ends a message."""
SPECIAL_TOKENS: Final[Mapping[int, str]] = {
    200002: "<|return|>",
    200003: "<|constrain|>",
    200005: "<|channel|>",
    200006: "<|start|>",
    200007: "<|end|>",
    200008: "<|message|>",
    200012: "<|call|>",
}
_MARKER: Final = re.compile(r"<\|(\w{1,32})\|>", re.ASCII)
_BEGINNING: Final = re.compile(r"<(?:\|\w{0,32}\|?)?\Z", re.ASCII)
_LONGEST: Final = 36

Piece = tuple[str, str]
"""The name of a marker, empty for text between markers; and what is there."""


class MarkerSplitter:
    """Splits text that comes in any pieces. Only what may become a marker is held back."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> list[Piece]:
        text = self._held + text
        beginning = _BEGINNING.search(text, max(0, len(text) - _LONGEST))
        stop = beginning.start() if beginning else len(text)
        self._held = text[stop:]
        return list(split_markers(text[:stop]))

    def flush(self) -> list[Piece]:
        """What was held back: no more text comes."""
        text, self._held = self._held, ""
        return [("", text)] if text else []


def split_markers(text: str) -> Iterator[Piece]:
    """Markers, and the text before, between and after them."""
    at = 0
    for match in _MARKER.finditer(text):
        if match.start() > at:
            yield "", text[at : match.start()]
        yield match[1], match[0]
        at = match.end()
    if at < len(text):
        yield "", text[at:]
