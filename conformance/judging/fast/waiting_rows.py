"""Chunks of a stream under way that are one frame of its run each: only their rows wait."""

from __future__ import annotations

from typing import Final

from conformance.judging.fast.template import Template

MOST_ROWS: Final = 64
MOST_ROW_BYTES: Final = 1 << 13

_LINE: Final = b"\n"


class WaitingRows:
    """What distinguishes frames of one template apart, and when they came."""

    def __init__(self, template: Template) -> None:
        self._opening = template.head + template.first
        self._closing = template.last + template.end
        self._around = len(self._opening) + len(self._closing)
        self._size = 0
        self.rows: list[bytes] = []
        self.times: list[float] = []  # empty where there is no clock

    def add(self, chunk: bytes, ms: float | None) -> bool:
        """Whether the chunk is one frame, and may wait with the others."""
        row = chunk[len(self._opening) : -len(self._closing)]
        if (
            len(row) + self._around != len(chunk)
            or not chunk.startswith(self._opening)
            or not chunk.endswith(self._closing)
            or _LINE in row
            or (self.rows and (ms is None) is bool(self.times))
        ):
            return False
        self.rows.append(row)
        self._size += len(row)
        if ms is not None:
            self.times.append(ms)
        return True

    def begins(self, chunk: bytes) -> bool:
        """Whether the chunk may be the beginning of a frame of the template."""
        size = min(len(chunk), len(self._opening))
        return chunk[:size] == self._opening[:size]

    @property
    def is_full(self) -> bool:
        return len(self.rows) >= MOST_ROWS or self._size >= MOST_ROW_BYTES

    def frame(self, row: bytes) -> bytes:
        """The chunk that a row was left of."""
        return self._opening + row + self._closing

    def take(self) -> tuple[list[bytes], list[float]]:
        taken = self.rows, self.times
        self.rows, self.times, self._size = [], [], 0
        return taken
