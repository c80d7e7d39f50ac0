"""Reasoning wrapped in markers inside visible text, distinguished under any chunking.

Rule 1: only a tail that may still become a marker is held back; the rest is passed on at once.
Rule 2: the leftmost marker counts, and of several that begin there the longest.
Rule 3: inside a block only its close markers count: a second open marker is thinking text.
Rule 4: a close marker outside a block is text.
Rule 5: with `last_close` nothing after a close marker is decided until other output comes
        (`flush`): up to the last close marker it was thinking, after it text.
Rule 6: a block that the prompt opened has no start on the wire; an open marker that is the very
        first thing in it is one.
Rule 7: with `first_only` everything after the first block is text.
Time is linear in the text; memory is one marker, with `last_close` the undecided text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Final, Literal

PieceKind = Literal["open", "thinking", "close", "text"]
MarkerPiece = tuple[PieceKind, str]
"""What a stretch of the wire is, with its text (`open` and `close`: the marker)."""

HARMONY_HEADERS: Final = (
    "<|start|>assistant",
    "<|channel|>final<|message|>",
    "<|channel|>commentary<|message|>",
    "<|end|>",
    "<|return|>",
)
"""Headers that carry no text: thrown away outside blocks if an open marker names a channel.

A commentary header with a recipient is a raw tool call: it stays visible, as a client shows it.
"""


@cache
def first_characters(pairs: tuple[tuple[str, str], ...]) -> str:
    """What any marker or header begins with: other text is passed on as it came."""
    return "".join(sorted({literal[0] for pair in pairs for literal in pair if literal} | {"<"}))


class _Search:
    """Looks for a set of literals in text that is still growing."""

    __slots__ = ("_firsts", "_longest", "_pattern", "_prefixes")

    def __init__(self, literals: Iterable[str]) -> None:
        ordered = sorted(set(literals), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered)) or r"(?!)")
        self._longest = len(ordered[0]) if ordered else 0
        self._prefixes = frozenset(m[:n] for m in ordered for n in range(1, len(m)))
        self._firsts = frozenset(m[0] for m in ordered)

    def undecided(self, text: str, start: int) -> int:
        """Where the longest tail begins that may still become a literal; `len(text)` if none."""
        for at in range(max(start, len(text) - self._longest + 1), len(text)):
            if text[at] in self._firsts and text[at:] in self._prefixes:
                return at
        return len(text)

    def find(self, text: str, start: int) -> re.Match[str] | None:
        return self._pattern.search(text, start)


class Markers:
    """Splits visible text into pieces. `pairs` are (open, close); sans-IO, one per message."""

    __slots__ = (
        "_closes",
        "_first_only",
        "_held",
        "_inside",
        "_last_close",
        "_outside",
        "_prompted",
        "_search",
        "_undecided",
    )

    def __init__(
        self,
        pairs: Iterable[tuple[str, str]],
        *,
        opened_by_prompt: bool = False,
        last_close: bool = False,
        first_only: bool = False,
    ) -> None:
        closes: dict[str, list[str]] = {}
        for start, end in pairs:
            if start and end:
                closes.setdefault(start, []).append(end)
        headers = HARMONY_HEADERS if any("<|channel|>" in start for start in closes) else ()
        self._closes = {start: _Search(ends) for start, ends in closes.items()}
        self._outside = _Search([*closes, *headers])
        self._last_close = last_close
        self._first_only = first_only
        self._held = ""
        self._inside = self._prompted = ""  # open marker of this block; the one a prompt said
        self._search = self._outside
        self._undecided: list[str] | None = None  # rule 5: a close marker and what came after
        if opened_by_prompt and closes:
            self._prompted = next(iter(closes))
            self._enter_block(self._prompted)

    def feed(self, text: str, *, last: bool = False) -> list[MarkerPiece]:
        """Pieces that are decided by now; `last` says that this run of text is over."""
        buffer = self._held + text
        pieces: list[MarkerPiece] = []
        start = self._skip_stated_open(pieces, buffer, last=last) if self._prompted else 0
        while True:
            hold = len(buffer) if last else self._search.undecided(buffer, start)
            match = self._search.find(buffer, start)
            if self._prompted or match is None or match.start() >= hold:
                break
            self._add_text(pieces, buffer[start : match.start()])
            self._take_marker(pieces, match.group())
            start = match.end()
        if self._prompted:
            hold = start
        self._add_text(pieces, buffer[start:hold])
        self._held = buffer[hold:]
        return _merge_pieces(pieces)

    def flush(self) -> list[MarkerPiece]:
        """Pieces of what was held back: other output came, or the end. A block stays open."""
        pieces = self.feed("", last=True)
        if self._undecided is not None:
            marker, *texts = self._undecided
            self._undecided = None
            self._leave_block()
            pieces.append(("close", marker))
            self._add_text(pieces, "".join(texts))
        return pieces

    def _skip_stated_open(self, pieces: list[MarkerPiece], buffer: str, *, last: bool) -> int:
        """Rule 6; returns where the rest begins. `_prompted` stays set while undecided."""
        marker = self._prompted
        if not last and len(buffer) < len(marker) and marker.startswith(buffer):
            return 0
        self._prompted = ""
        if not buffer.startswith(marker):
            return 0
        pieces.append(("open", marker))
        return len(marker)

    def _add_text(self, pieces: list[MarkerPiece], text: str) -> None:
        if not text:
            return
        if self._undecided is not None:
            self._undecided.append(text)
        else:
            pieces.append(("thinking" if self._inside else "text", text))

    def _take_marker(self, pieces: list[MarkerPiece], marker: str) -> None:
        if not self._inside:
            if marker in self._closes:  # else a harmony header
                self._enter_block(marker)
                pieces.append(("open", marker))
        elif self._last_close:
            if self._undecided is not None:
                pieces.append(("thinking", "".join(self._undecided)))
            self._undecided = [marker]
        else:
            self._leave_block()
            pieces.append(("close", marker))

    def _enter_block(self, marker: str) -> None:
        self._inside = marker
        self._search = self._closes[marker]

    def _leave_block(self) -> None:
        self._inside = ""
        self._search = _Search(()) if self._first_only else self._outside


def _merge_pieces(pieces: list[MarkerPiece]) -> list[MarkerPiece]:
    """Adjacent pieces of a kind as one: a swallowed header or undecided close parts none."""
    if len(pieces) < 2:
        return pieces
    runs = groupby(pieces, key=itemgetter(0))
    return [(kind, "".join(text for _, text in run)) for kind, run in runs]
