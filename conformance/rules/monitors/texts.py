"""Streaming search in text that arrives in pieces, in bounded memory.

`Search` finds any of a few needles in the concatenation of all pieces, however they are cut, and
says in which events the first one begins and ends. It keeps only as many characters as a needle
may still need and as stand before it in a message, and searches in batches so that the work stays
linear in the text. What is found, and what is said of it, does not hang on the batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

BEFORE: Final = 20  # characters shown before a needle
_AFTER: Final = 20  # and behind it, of the event that it ends in
_MOST_SHOWN: Final = 60  # of the needle itself


@dataclass(frozen=True, slots=True)
class Hit:
    """A needle found: text around it, and the events that hold its first and last character."""

    needle: str
    around: str
    first: int
    last: int


class Search:
    """Looks for `needles`; more may be added while the text streams."""

    def __init__(self, needles: tuple[str, ...] = ()) -> None:
        self.needles = tuple(needle for needle in needles if needle)
        self._since = dict.fromkeys(self.needles, 0)
        self._base = 0  # how much of the text is no longer kept
        self._keep = max((len(needle) for needle in self.needles), default=1) - 1 + BEFORE
        self._pieces: list[tuple[str, int]] = []
        self._new = 0

    def add(self, needle: str) -> None:
        """Looks for one more needle in the text that comes from here on."""
        self.needles = (*self.needles, needle)
        self._since.setdefault(needle, self._base + sum(len(text) for text, _ in self._pieces))
        self._keep = max(self._keep, len(needle) - 1 + BEFORE)

    def feed(self, text: str, number: int) -> Hit | None:
        """Takes the next piece; searches once as much has come as must be looked at again."""
        self._pieces.append((text, number))
        self._new += len(text)
        return self.flush() if self._new >= self._keep else None

    def finds(self, more: str) -> bool:
        """Whether a needle would end in further text; changes nothing."""
        kept = "".join(text for text, _ in self._pieces)
        border = kept + more[: self._keep]
        return any(
            self._find(border, needle) >= 0 or more.find(needle) >= 0 for needle in self.needles
        )

    def skip(self, texts: Sequence[str], length: int, last: int) -> None:
        """Takes pieces in which nothing is found; the last one came in event `last`.

        `length` is that of all together. Nothing is left to be searched: pieces fed one by one
        may wait a little, which nobody can tell from what is found.
        """
        pieces: list[tuple[str, int]] = []
        missing = self._keep
        for number, text in zip(range(last, -1, -1), reversed(texts), strict=False):
            if missing <= 0:
                break
            pieces.append((text, number))
            missing -= len(text)
        before = self._pieces if missing > 0 else []
        had = sum(len(text) for text, _ in self._pieces)
        self._pieces = [*before, *reversed(pieces)]
        kept = sum(len(text) for text, _ in self._pieces)
        self._base += had + length - kept
        self._trim(kept)

    def flush(self) -> Hit | None:
        """Searches what has not been searched yet."""
        if not self._new:
            return None
        whole = "".join(text for text, _ in self._pieces)
        # The hit that ends first: it is the same however the text is cut.
        found = [(at + len(n), at, n) for n in self.needles if (at := self._find(whole, n)) >= 0]
        hit = self._hit(whole, *min(found)[1:]) if found else None
        self._trim(len(whole))
        return hit

    def _find(self, whole: str, needle: str) -> int:
        return whole.find(needle, max(0, self._since[needle] - self._base))

    def _hit(self, whole: str, at: int, needle: str) -> Hit:
        (first, _), (last, end) = self._event_at(at), self._event_at(at + len(needle) - 1)
        behind = min(at + min(len(needle), _MOST_SHOWN) + _AFTER, end)
        return Hit(needle, whole[max(0, at - BEFORE) : behind], first, last)

    def _event_at(self, position: int) -> tuple[int, int]:
        """The event that holds a character, and where its text ends."""
        end = 0
        for text, number in self._pieces:
            end += len(text)
            if position < end:
                return number, end
        raise IndexError(position)

    def _trim(self, length: int) -> None:
        surplus = length - self._keep
        kept: list[tuple[str, int]] = []
        for text, number in self._pieces:
            if surplus < len(text):
                kept.append((text[max(0, surplus) :], number))
            surplus -= len(text)
        self._pieces = kept
        self._base += max(0, length - self._keep)
        self._new = 0


def difference(left: str, right: str) -> tuple[int, str, str]:
    """Where two texts part: the index, and what either has there.

    Where both look alike on paper (composed and decomposed letters, say) code points are shown.
    """
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), -1)
    at = at if at >= 0 else min(len(left), len(right))
    begin = max(0, at - 12)
    shown = left[begin : at + 12], right[begin : at + 12]
    if left[at : at + 1] and right[at : at + 1] and _alike(left[at], right[at]):
        return at, f"{shown[0]!r} (U+{ord(left[at]):04X})", f"{shown[1]!r} (U+{ord(right[at]):04X})"
    return at, repr(shown[0]), repr(shown[1])


def _alike(left: str, right: str) -> bool:
    return not (left.isascii() and right.isascii() and left.isprintable() and right.isprintable())
