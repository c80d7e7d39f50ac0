"""When bytes came: chunks with their times, joined to worthwhile sizes without losing them.

A frame came when the chunk came that holds its last byte.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from conformance.events import Chunk

WORTHWHILE: Final = 1 << 15  # bytes to hand over at once


class Gathered(NamedTuple):
    """Chunks joined. `ends[i]` is the byte at which chunk i ended, `times[i]` when it came.

    Times are milliseconds since the response head; both are empty where no clock was kept.
    """

    data: bytes
    ends: Sequence[int] = ()
    times: Sequence[float] = ()


def clocked(chunks: Iterable[Chunk]) -> Iterator[tuple[bytes, float | None]]:
    """Chunks with the milliseconds since the response head; None once a chunk has no clock."""
    elapsed: float | None = 0.0
    for chunk in chunks:
        elapsed = None if elapsed is None or chunk.ms is None else elapsed + chunk.ms
        yield chunk.data, elapsed


def gathered(chunks: Iterable[Chunk]) -> Iterator[Gathered]:
    """Chunks joined to worthwhile ones; those with a clock apart from those without."""
    parts: list[bytes] = []
    ends: list[int] = []
    times: list[float] = []
    size = 0
    for data, ms in clocked(chunks):
        if size >= WORTHWHILE or (ms is None and ends):
            yield Gathered(b"".join(parts), ends, times)
            parts, ends, times, size = [], [], [], 0
        parts.append(data)
        size += len(data)
        if ms is not None:
            ends.append(size)
            times.append(ms)
    if parts:
        yield Gathered(b"".join(parts), ends, times)


class Clock:
    """The times of a buffer's bytes: of what was `held` before, and of what was gathered."""

    def __init__(self, held: int, gathered: Gathered) -> None:
        self._held = held
        self._ends = gathered.ends
        self._times = gathered.times

    @property
    def ticks(self) -> bool:
        return bool(self._ends)

    def pieces(self, at: int, stop: int) -> Iterator[tuple[int, float | None]]:
        """Cuts the bytes from `at` to `stop` by the chunks they came in: ends, and times."""
        if not self._ends:
            yield stop, None
            return
        for chunk in range(bisect_right(self._ends, at - self._held), len(self._ends)):
            end = self._ends[chunk] + self._held
            yield min(end, stop), self._times[chunk]
            if end >= stop:
                return

    def rows(self, ends: Sequence[int]) -> list[tuple[int, float]]:
        """How many of the rows that end at these bytes had come when, for a clock that ticks."""
        found: list[tuple[int, float]] = []
        done = 0
        for end, ms in self.pieces(ends[0] - 1, ends[-1]):
            count = bisect_right(ends, end, done)
            if count > done and ms is not None:
                found.append((count, ms))
                done = count
        return found
