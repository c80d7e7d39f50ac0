"""Streaming search in text that arrives in pieces, in bounded memory.

`Search` finds any of a few needles in the concatenation of all pieces, however they are cut, with
the piece that ends it, and names the events in which it begins and ends. It keeps only the
characters that a needle may still need and that a message shows before it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final, Self

from msgspec import Struct

from conformance.core.excerpts import excerpt, open_excerpt
from conformance.rules.repetition import Column

BEFORE: Final = 20  # characters shown before a needle
_WITHIN: Final = 4096  # characters before those in which a key may begin
_AFTER: Final = 20  # and after it, of the event that it ends in
_MOST_LATE_SIZE: Final = 4096  # characters in pieces that are not joined before one may matter
_PIECE_SIZE: Final = 64  # overhead counted for each piece
_MOST_SHOWN: Final = 60  # of the needle itself


class Hit(Struct, frozen=True):
    """A needle found: text around it, and the events that hold its first and last character."""

    needle: str
    around: str
    first: int
    last: int


class Needles(Struct, frozen=True):
    """The texts to search, the length of the longest, and two quick checks.

    One finds a beginning in a short text; the other finds whole needles in a text of any length:
    a text without any of the `signs` has none.
    """

    texts: tuple[str, ...]
    longest: int
    may_begin_in: Callable[[str], object]  # True where one may begin in a text
    signs: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str], longest: int = 1) -> Self:
        """Made once for many texts that are searched; `longest` counts where there are none."""
        wanted = tuple(text for text in texts if text)
        longest = max(map(len, wanted), default=longest)
        return cls(wanted, longest, first_characters(wanted), _first_characters(wanted))

    def and_one(self, text: str) -> Self:
        wanted = (*self.texts, text)
        longest = max(self.longest, len(text))
        return type(self)(wanted, longest, first_characters(wanted), _first_characters(wanted))

    def may_be_in(self, text: str) -> bool:
        """Whether a text may hold a whole needle."""
        for sign in self.signs:  # noqa: SIM110  # a generator takes longer than the searches
            if sign in text:
                return True
        return False


class Search:
    """Looks for needles; more may be added while the text streams."""

    __slots__ = (
        "_base",
        "_earlier",
        "_ends",
        "_has_begun",
        "_kept",
        "_late",
        "_late_size",
        "_may_begin_in",
        "_needles",
        "_since",
        "_skipped",
    )

    def __init__(self, needles: Needles) -> None:
        self._needles = needles
        self._may_begin_in = needles.may_begin_in
        self._since: dict[str, int] = {}  # where the search began for needles added later
        self._base = 0  # how much of the text has been dropped
        self._kept = ""
        self._earlier = _EarlierText()  # the end of the dropped text
        self._ends: list[tuple[int, int]] = []  # where kept pieces end, and their events
        self._late: list[tuple[str, int]] = []  # pieces after the kept text, with their events
        self._late_size = 0
        self._skipped: tuple[Column, int] | None = None  # pieces before those, in a column
        self._has_begun = False  # the kept text may end with the beginning of a needle

    @property
    def needles(self) -> tuple[str, ...]:
        return self._needles.texts

    def add(self, needle: str, *, has_begun: bool = False) -> None:
        """Looks for one more needle in the text that comes from here on.

        With `has_begun` it may begin in the text before, and end in what comes.
        """
        self._join_late()
        before = len(needle) - 1 if has_begun else 0
        if needle not in self.needles:
            self._since[needle] = self._base + len(self._kept) - before
        self._needles = self._needles.and_one(needle)
        self._may_begin_in = self._needles.may_begin_in
        self._has_begun = self._has_begun or has_begun

    def feed(self, text: str, number: int) -> Hit | None:
        """Takes the next piece, which came in event `number`."""
        self._late.append((text, number))
        # Nearly no text holds even the first character of a marker.
        if not self._has_begun and not self._may_begin_in(text):
            self._late_size += len(text) + _PIECE_SIZE
            if self._late_size > _MOST_LATE_SIZE:
                self._trim_text(self._join_late())
            return None
        whole = self._join_late()
        # Unless one has begun already, it begins in this piece.
        begin = 0 if self._has_begun else len(whole) - len(text)
        hit = self._first_hit(whole, begin)
        self._has_begun = self._ends_inside(whole, begin)
        self._trim_text(whole)
        return hit

    def _join_late(self) -> str:
        """All that is kept, with the pieces that came since."""
        if self._skipped is not None:
            self._keep_skipped(*self._skipped)
        if not self._late:
            return self._kept
        at = self._base + len(self._kept)
        for text, number in self._late:
            at += len(text)
            self._ends.append((at, number))
        self._kept += "".join(text for text, _ in self._late)
        self._late.clear()
        self._late_size = 0
        return self._kept

    def _first_hit(self, whole: str, begin: int) -> Hit | None:
        """The hit that ends first: it is the same however the text is cut.

        No needle begins before `begin`.
        """
        part = whole[begin:] if begin else whole
        found = [
            (at + len(each), at, each)
            for each in self.needles
            if each in part and (at := self._find_needle(whole, each)) >= 0
        ]
        return self._hit_at(whole, *min(found)[1:]) if found else None

    def _ends_inside(self, whole: str, begin: int) -> bool:
        """Whether a text ends with the beginning of a needle, at or after a position."""
        end = whole[max(begin, len(whole) - self._needles.longest + 1) :]
        begun = [each for each in self.needles if each[0] in end]
        return any(_ends_inside(needle, whole, begin) for needle in begun)

    def finds(self, more: str) -> bool:
        """Whether a needle would end in further text; changes nothing."""
        needles, may_be_in = self.needles, self._needles.may_be_in
        border = self._join_late() + more[: self._needles.longest]
        if may_be_in(border) and any(self._find_needle(border, each) >= 0 for each in needles):
            return True
        return may_be_in(more) and any(each in more for each in needles)

    def skip(self, column: Column, last: int) -> None:
        """Takes a column of pieces in which nothing is found; its last one came in event `last`."""
        kept, joined = self._join_late(), column.joined
        needed = self._needles.longest - 1
        near = joined if len(joined) >= needed else kept + joined
        self._has_begun = bool(self._may_begin_in(near[max(0, len(near) - needed) :]))
        # Which of its characters are kept is worked out if more text comes: often none does.
        self._skipped = column, last
        if len(joined) > _MOST_LATE_SIZE:
            self._keep_skipped(column, last)

    def _keep_skipped(self, column: Column, last: int) -> None:
        """Keeps of a skipped column what may still be needed."""
        self._skipped = None
        joined = column.joined
        ends: list[tuple[int, int]] = []
        at = end = self._base + len(self._kept) + len(joined)
        needed = self._kept_length()
        for number, size in zip(range(last, -1, -1), reversed(column.lengths), strict=False):
            if end - at >= needed:
                break
            ends.append((at, number))
            at -= size
        kept = self._kept if end - at < needed else ""
        held = end - at + len(kept)
        self._earlier.add((self._kept, joined[-held - _WITHIN :]), held)
        self._base = at - len(kept)
        self._ends += reversed(ends)
        self._trim_text(kept + joined[len(joined) - end + at :])

    def _find_needle(self, whole: str, needle: str) -> int:
        return whole.find(needle, max(0, self._since.get(needle, 0) - self._base))

    def _hit_at(self, whole: str, at: int, needle: str) -> Hit:
        (first, _), (last, end) = self._event_at(at), self._event_at(at + len(needle) - 1)
        shown_end = min(at + min(len(needle), _MOST_SHOWN) + _AFTER, end)
        before = self._earlier.end() + whole[:at]
        return Hit(needle, text_around(before, whole[at:end], shown_end - at), first, last)

    def _event_at(self, position: int) -> tuple[int, int]:
        """The event that holds a character, and where its text ends."""
        for end, number in self._ends:
            if position < end - self._base:
                return number, end - self._base
        raise IndexError(position)

    def _kept_length(self) -> int:
        """The number of characters that a needle, or a message about it, may still need."""
        return self._needles.longest - 1 + BEFORE

    def _surplus_length(self, whole: str) -> int:
        """How many characters at the beginning of the text are needed no more."""
        return max(0, len(whole) - self._kept_length())

    def _trim_text(self, whole: str) -> None:
        surplus = self._surplus_length(whole)
        if surplus:
            self._earlier.add((whole,), len(whole) - surplus)
        self._kept = whole[surplus:]
        self._base += surplus
        while self._ends and self._ends[0][0] <= self._base:
            del self._ends[0]


class _EarlierText:
    """The end of a text, as pieces that are joined only when read."""

    __slots__ = ("_pieces", "_size")

    def __init__(self) -> None:
        self._pieces: deque[tuple[Sequence[str], int, int]] = deque()
        self._size = 0

    def add(self, texts: Sequence[str], besides: int) -> None:
        """Takes texts that follow each other, but not the last `besides` characters."""
        size = sum(map(len, texts)) - besides
        self._pieces.append((texts, besides, size))
        self._size += size
        while self._size - self._pieces[0][2] >= _WITHIN:
            self._size -= self._pieces.popleft()[2]

    def end(self) -> str:
        joined = (("".join(texts), besides) for texts, besides, _ in self._pieces)
        return "".join(text[: len(text) - besides] for text, besides in joined)


def text_around(before: str, found: str, size: int) -> str:
    """The text before, and the first `size` characters of the match, without secrets."""
    near = before[-BEFORE - _WITHIN :]
    return open_excerpt(near + found, len(near) - BEFORE, len(near) + size)


def _ends_inside(needle: str, text: str, begin: int) -> bool:
    """Whether a text ends with the beginning of a needle, at or after a position."""
    first = needle[0]
    at = text.find(first, max(begin, len(text) - len(needle) + 1))
    while at >= 0:
        if needle.startswith(text[at:]):
            return True
        at = text.find(first, at + 1)
    return False


def _first_characters(needles: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(needle[0] for needle in needles))


@lru_cache(maxsize=1024)
def first_characters(needles: tuple[str, ...]) -> Callable[[str], object]:
    """Whether a text holds the first character of any needle."""
    firsts = {re.escape(needle[0]) for needle in needles}
    return re.compile(f"[{''.join(sorted(firsts))}]").search if firsts else _is_never_there


def _is_never_there(text: str) -> bool:
    del text
    return False


def difference(left: str, right: str) -> tuple[int, str, str]:
    """The first difference of two texts: its index, and both texts there.

    If both look the same in print (composed and decomposed letters, say), code points are shown.
    """
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), -1)
    at = at if at >= 0 else min(len(left), len(right))
    begin = max(0, at - 12)
    shown = excerpt(left, begin, at + 12), excerpt(right, begin, at + 12)
    if left[at : at + 1] and right[at : at + 1] and _share_case(left[at], right[at]):
        return at, f"{shown[0]!r} (U+{ord(left[at]):04X})", f"{shown[1]!r} (U+{ord(right[at]):04X})"
    return at, repr(shown[0]), repr(shown[1])


def _share_case(left: str, right: str) -> bool:
    return not (left.isascii() and right.isascii() and left.isprintable() and right.isprintable())
