"""Thinking that is in the text itself, between markers such as `<think>` and `</think>`.

Rule 1: what may be the beginning of a marker is held back until more comes, and no more than that.
Rule 2: outside a block only open markers count, inside only the close marker of its pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import Final, Literal

Pair = tuple[str, str]
Piece = tuple[Literal["open", "close", "think", "say"], str]
_NEVER: Final = r"(?!)"


class Splitter:
    """Splits the text of one choice, however it was cut. `opened`: the prompt opened a block."""

    def __init__(self, pairs: Sequence[Pair], *, opened: bool = False) -> None:
        self._pairs = [pair for pair in pairs if pair[0] and pair[1]]
        self._close = self._pairs[0][1] if opened and self._pairs else ""
        self._held = ""
        opens = sorted((pair[0] for pair in self._pairs), key=len, reverse=True)
        # One search for all of them: a text of many markers takes linear time.
        self._opens = re.compile("|".join(map(re.escape, opens)) or _NEVER)

    @property
    def is_outside(self) -> bool:
        """Whether what comes next is text."""
        return not self._close

    def feed(self, text: str) -> Iterator[Piece]:
        """Yield the pieces that this text completes: `open`, `close`, thinking or text."""
        text = self._held + text
        self._held = ""
        start = 0
        while start < len(text):
            at, marker = self._next(text, start)
            if at < 0:
                kept = len(text) - self._possible(text, start)
                self._held = text[kept:]
                yield from self._spoken(text[start:kept])
                return
            yield from self._spoken(text[start:at])
            yield self._passed(marker)
            start = at + len(marker)

    def flush(self) -> Iterator[Piece]:
        """Yield the text that was held back, and is no marker."""
        held, self._held = self._held, ""
        yield from self._spoken(held)

    def whole(self, text: str) -> Iterator[Piece]:
        """The pieces of a whole text, none of them cut."""
        pieces = chain(self.feed(text), self.flush())
        for kind, group in groupby(pieces, key=lambda piece: piece[0]):
            yield kind, "".join(text for _, text in group)

    def _expected(self) -> list[str]:
        return [self._close] if self._close else [pair[0] for pair in self._pairs]

    def _next(self, text: str, start: int) -> tuple[int, str]:
        """The first marker from there, and where; the longest of those in one place."""
        if self._close:
            return text.find(self._close, start), self._close
        found = self._opens.search(text, start)
        return (found.start(), found.group()) if found else (-1, "")

    def _possible(self, text: str, start: int) -> int:
        """How many characters at the end may be the beginning of a marker."""
        longest = max((len(marker) - 1 for marker in self._expected()), default=0)
        for size in range(min(longest, len(text) - start), 0, -1):
            if any(marker.startswith(text[-size:]) for marker in self._expected()):
                return size
        return 0

    def _passed(self, marker: str) -> Piece:
        if self._close:
            self._close = ""
            return "close", marker
        self._close = next(close for open_, close in self._pairs if open_ == marker)
        return "open", marker

    def _spoken(self, text: str) -> Iterator[Piece]:
        if text:
            yield ("think" if self._close else "say"), text
