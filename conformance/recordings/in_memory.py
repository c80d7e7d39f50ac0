"""A recording that is not, or not yet, in the file that it names."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.cassette import Recording


class InMemory(Recording, frozen=True):
    """A recording that is in no file: its findings have no line."""

    def locate(self, _exchange: int, offsets: Sequence[int]) -> list[int]:
        return [1] * len(offsets)
