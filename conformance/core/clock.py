"""When bytes came: chunks with their times, joined to worthwhile sizes without losing them.

A frame came when the chunk came that holds its last byte.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from conformance.core.events import Chunk

WORTHWHILE: Final = 1 << 15  # bytes to hand over at once


class JoinedChunks(NamedTuple):
    """Chunks joined. `ends[i]` is the byte at which chunk i ended, `times[i]` when it came.

    Times are milliseconds since the response head; both are empty where no clock was kept.
    """

    data: bytes
    ends: Sequence[int] = ()
    times: Sequence[float] = ()


def chunk_times(chunks: Iterable[Chunk]) -> Iterator[tuple[bytes, float | None]]:
    """Chunks with the milliseconds since the response head; None once a chunk has no clock."""
    elapsed: float | None = 0.0
    for chunk in chunks:
        elapsed = None if elapsed is None or chunk.ms is None else elapsed + chunk.ms
        yield chunk.data, elapsed


class WaitingChunks:
    """Chunks that wait to be handed over together."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._ends: list[int] = []
        self._times: list[float] = []
        self.size = 0

    def __len__(self) -> int:
        return len(self._parts)

    def agrees(self, ms: float | None) -> bool:
        """Whether a chunk of that time may join: those with a clock stay apart from others."""
        return not self._parts or (ms is None) != bool(self._ends)

    def add(self, data: bytes, ms: float | None) -> None:
        self._parts.append(data)
        self.size += len(data)
        if ms is not None:
            self._ends.append(self.size)
            self._times.append(ms)

    def take(self) -> JoinedChunks:
        taken = JoinedChunks(b"".join(self._parts), self._ends, self._times)
        self._parts, self._ends, self._times, self.size = [], [], [], 0
        return taken


def join_chunks(chunks: Iterable[Chunk]) -> Iterator[JoinedChunks]:
    waiting = WaitingChunks()
    for data, ms in chunk_times(chunks):
        if waiting.size >= WORTHWHILE or not waiting.agrees(ms):
            yield waiting.take()
        waiting.add(data, ms)
    if waiting:
        yield waiting.take()


class ByteClock:
    """The arrival times of a buffer's bytes: those `held` before, and those gathered since."""

    def __init__(self, held: int, gathered: JoinedChunks) -> None:
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
