"""The least chunks that still show a flaw: first whole pieces are left out, then ever smaller ones.

The bytes come first, in one chunk if that shows it; else the chunks themselves are thinned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final, TypeVar

from conformance.core.events import Chunk

Shows = Callable[[tuple[Chunk, ...]], bool]
MOST_TRIES: Final = 400
T = TypeVar("T")


class _Budget:
    """Tries that are left: a reduction is a convenience and must end."""

    def __init__(self, shows: Shows) -> None:
        self._shows = shows
        self.left = MOST_TRIES

    def __call__(self, chunks: tuple[Chunk, ...]) -> bool:
        self.left -= 1
        return self.left >= 0 and self._shows(chunks)


def reduced(chunks: tuple[Chunk, ...], shows: Shows) -> tuple[Chunk, ...]:
    """Fewer bytes that still show it; the chunks themselves where less does not."""
    budget = _Budget(shows)
    whole = b"".join(chunk.data for chunk in chunks)
    if budget((Chunk(whole),)):
        parts = _thinned(_frames(whole), lambda kept: budget((Chunk(b"".join(kept)),)))
        return (Chunk(b"".join(parts)),)
    return tuple(_thinned(_per_frame(chunks), lambda kept: budget(tuple(kept))))


def _frames(data: bytes) -> list[bytes]:
    return [part for part in re.split(rb"(?<=\n\n)", data) if part]


def _per_frame(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Long chunks are cut at the ends of frames: what came later came at the same time."""
    found: list[Chunk] = []
    for chunk in chunks:
        first, *others = _frames(chunk.data) or [b""]
        found.append(Chunk(first, chunk.ms))
        found += [Chunk(other, None if chunk.ms is None else 0.0) for other in others]
    return found if len(found) < 5000 else list(chunks)


def _thinned(parts: list[T], shows: Callable[[list[T]], bool]) -> list[T]:
    """Leaves out halves, quarters, ... as long as what is left shows it."""
    if not shows(parts):
        return parts
    size = max(1, len(parts) // 2)
    while True:
        for begin in reversed(list(accumulate([size] * (len(parts) // size), initial=0))):
            fewer = parts[:begin] + parts[begin + size :]
            if len(fewer) < len(parts) and shows(fewer):
                parts = fewer
        if size == 1:
            return parts
        size = max(1, size // 2)
