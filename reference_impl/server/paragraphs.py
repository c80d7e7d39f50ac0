"""Text that arrives in pieces, cut into paragraphs at blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_GAP: Final = re.compile(r"(\n[ \t\r\n]*)")


class Paragraphs:
    """Says of every piece of text which paragraph it belongs to.

    A line of nothing but white space is blank. Line ends, and the white space after them, are held
    back until it is known whether they are part of a paragraph or stand between two; those at the
    very beginning and end are dropped.
    """

    def __init__(self) -> None:
        self._number = -1
        self._held = ""

    def feed(self, text: str) -> Iterator[tuple[int, str]]:
        """Number of the paragraph, from 0, and text of it."""
        text, self._held = self._held + text, ""
        if self._number < 0:
            if not text.strip():
                self._held = text
                return
            text = _from_first_line(text)
            self._number = 0
        first, *rest = _GAP.split(text)
        if first:
            yield self._number, first
        for gap, run in zip(rest[::2], rest[1::2], strict=True):
            if not run:
                self._held = gap
            elif gap.count("\n") > 1:
                self._number += 1
                yield self._number, gap.rpartition("\n")[2] + run
            else:
                yield self._number, gap + run


def _from_first_line(text: str) -> str:
    """Without the blank lines before the first that is none."""
    lead = text[: len(text) - len(text.lstrip())]
    return text[lead.rfind("\n") + 1 :]


class Whole:
    """The same for text that is to stay in one piece, white space at its end apart."""

    def __init__(self) -> None:
        self._held = ""
        self._begun = False

    def feed(self, text: str) -> Iterator[tuple[int, str]]:
        """Number 0, and text."""
        text = self._held + text
        said = text.rstrip()
        self._held = text[len(said) :]
        if said:
            yield 0, said if self._begun else said.lstrip()
            self._begun = True
