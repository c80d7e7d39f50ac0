"""How far a check of many files is: what a search walks through, then files and a rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import Final, TypeVar

_EVERY: Final = 0.2  # seconds between two lines
Outcome = TypeVar("Outcome")


class CheckProgress:
    """Shows in a line how far it is, a few times a second; silent without `show`."""

    def __init__(self, show: Callable[[str], None] | None = None) -> None:
        self._show = show
        self._shown = 0.0
        self._files = 0

    def found_file(self, path: Path) -> None:
        self._files += 1
        if self._is_due():
            self._show_line(f"looking for recordings: {self._files:,} files, now in {path.parent}")

    def counted(self, outcomes: Iterable[Outcome], total: int) -> Iterator[Outcome]:
        """The outcomes of so many files, as they come."""
        begun = monotonic()
        for number, each in enumerate(outcomes, 1):
            if self._is_due():
                rate = number / max(monotonic() - begun, 1e-3)
                self._show_line(f"checked {number:,} of {total:,} files, {rate:,.0f} a second")
            yield each

    def _is_due(self) -> bool:
        return self._show is not None and monotonic() - self._shown >= _EVERY

    def _show_line(self, line: str) -> None:
        self._shown = monotonic()
        if self._show is not None:
            self._show(line)
