"""Ways to cut a body into chunks, with a clock or without."""

from __future__ import annotations

from random import Random

from conformance.core.events import Chunk

SIZES = (1, 2, 5, 16, 100, 700, 4096)
GAPS = (0.0, 1.0, 20.0, 40_000.0)


def cut(data: bytes, source: Random, *, clock: bool, size: int = 0) -> list[Chunk]:
    """Chunks of `size` bytes; by default of one of several manners, drawn from `source`."""
    manner = source.random()
    chunks: list[Chunk] = []
    at = 0
    while at < len(data):
        step = size or _size(source, manner, len(data))
        if not size and manner > 0.75:  # as a server flushes: one event to a chunk
            end = data.find(b"\n\n", at)
            step = end + 2 - at if end >= 0 else len(data) - at
        ms = source.choice(GAPS) if clock else None
        chunks.append(Chunk(data[at : at + step], ms))
        at += step
    return chunks


def _size(source: Random, manner: float, whole: int) -> int:
    if manner < 0.1:
        return 1 if whole < 20_000 else 16
    if manner < 0.5:
        return source.choice(SIZES)
    return source.randint(1000, 70_000)
