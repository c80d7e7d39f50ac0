"""Frames of a run, built from their rows only when they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from conformance.core.events import Frame
from conformance.judging.fast.template import Template


class FrameRows(Sequence[Frame]):
    """As the parser would have given them; `like` is one of them, `at` the first one's byte."""

    def __init__(self, template: Template, rows: Sequence[bytes], like: Frame, at: int) -> None:
        self._template = template
        self._rows = rows
        self._like = like
        self._at = at

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Frame]:
        at = self._at
        for row in self._rows:
            yield self._frame(row, at)
            at += self._template.around + len(row)

    def __reversed__(self) -> Iterator[Frame]:
        around = self._template.around
        at = self._at + sum(map(len, self._rows)) + around * len(self._rows)
        for row in reversed(self._rows):
            at -= around + len(row)
            yield self._frame(row, at)

    def _frame(self, row: bytes, at: int) -> Frame:
        like, data = self._like, self._template.data(row).decode()
        return Frame(like.kind, like.event, data, like.id, at, like.named)

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Frame]: ...
    def __getitem__(self, index: int | slice) -> Frame | Sequence[Frame]:
        return tuple(self)[index]
