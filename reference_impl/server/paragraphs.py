"""Text that arrives in pieces, cut into paragraphs at blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_RUNS: Final = re.compile(r"\n+|[^\n]+")


class Paragraphs:
    """Says of every piece of text which paragraph it belongs to.

    Line ends are held back until it is known whether they are part of a paragraph or stand
    between two; those at the very beginning and end are dropped.
    """

    def __init__(self) -> None:
        self._number = -1
        self._line_ends = 0

    def feed(self, text: str) -> Iterator[tuple[int, str]]:
        """Number of the paragraph, from 0, and text of it."""
        for run in _RUNS.findall(text):
            if run[0] == "\n":
                self._line_ends += len(run)
                continue
            is_new = self._number < 0 or self._line_ends > 1
            self._number += is_new
            yield self._number, run if is_new else "\n" * self._line_ends + run
            self._line_ends = 0
