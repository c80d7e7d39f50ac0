"""Folds with `lacks` and `with: list`: text holds none of the values that other events state.

Every value is searched by itself, in later and in earlier text. Work and memory stay bounded: only
the first LONGEST_NEEDLE characters of a value, the first MOST_NEEDLES values of a stream, and the
last MOST_EARLIER characters of earlier text count.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from conformance.core.events import Event
from conformance.rules.forms.base import FIRED, OPEN, Act, Names, Report, Slice, State, Step
from conformance.rules.forms.fold_lacks import (
    LONGEST_NEEDLE,
    MOST_NEEDLES,
    LacksMachine,
    ReadText,
    SearchText,
    WatchedText,
    breach,
)
from conformance.rules.forms.texts import BEFORE, Hit, Needles, Search, text_around
from conformance.rules.repetition import Columns, Stretch, is_related

MOST_EARLIER: Final = 1024 * 1024
_NO_NEEDLES: Final = Needles.of((), LONGEST_NEEDLE)


class EarlierText:
    """The last characters of a text, and in which events they came."""

    __slots__ = ("_pieces", "_size")

    def __init__(self) -> None:
        # Joined texts of events that follow each other, the first event, the lengths of each.
        self._pieces: deque[tuple[str, int, Sequence[int]]] = deque()
        self._size = 0

    def add(self, text: str, first: int, lengths: Sequence[int]) -> None:
        """Takes the joined texts of events from number `first` on, each `lengths` long."""
        self._pieces.append((text, first, lengths))
        self._size += len(text)
        while self._size - len(self._pieces[0][0]) >= MOST_EARLIER:
            self._size -= len(self._pieces.popleft()[0])

    def find(self, needle: str) -> Hit | None:
        whole = "".join(text for text, _, _ in self._pieces)
        at = whole.find(needle)
        if at < 0:
            return None
        end = at + len(needle)
        around = text_around(whole[:at], whole[at:], len(needle) + BEFORE)
        return Hit(needle, around, self._event_at(at), self._event_at(end - 1))

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def _event_at(self, position: int) -> int:
        for text, first, lengths in self._pieces:
            if position < len(text):
                ends = accumulate(lengths)
                return next(n for n, end in enumerate(ends, first) if position < end)
            position -= len(text)
        raise IndexError(position)


class WatchedValues(WatchedText):
    """The text so far, and the search for the values that were stated so far."""

    __slots__ = ("earlier",)

    def __init__(self) -> None:
        super().__init__(Search(_NO_NEEDLES))
        self.earlier = EarlierText()


class LacksValuesMachine(LacksMachine):
    """`over` is the text that is searched; each value of `other` is searched for."""

    def memory(self) -> WatchedValues:
        return WatchedValues()

    def step(self, state: State, names: Names) -> Step:
        acts: list[Act] = []
        if other := names & self.other.keys():
            acts.append(_CollectNeedle(self, self.other[min(other)], is_first=state is OPEN))
        if own := names & self.over.keys():
            acts.append(_SearchText(self, self.over[min(own)], is_first=state is OPEN))
        return state, tuple(acts)


class _CollectNeedle(ReadText):
    """Looks for one more value, first of all in the text that came before it."""

    def __init__(self, machine: LacksMachine, path: str, *, is_first: bool) -> None:
        super().__init__(machine, path)
        self.is_first = is_first

    def perform(self, slice_: Slice, event: Event) -> Report:
        value = self.get(event.data)
        needle = value[:LONGEST_NEEDLE].strip() if isinstance(value, str) else ""
        watched: WatchedValues = slice_.memory[self.machine.position]
        if not self.machine.looks_for(needle) or len(watched.search.needles) >= MOST_NEEDLES:
            return None
        watched.search.add(needle, has_begun=True)
        if hit := watched.earlier.find(needle):
            return breach(hit, f" of event {hit.last}")
        return FIRED if self.is_first and watched.earlier else None

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        return not is_related(self.path, columns) and super().still(slice_, event, columns)


class _SearchText(SearchText):
    """Searches the next piece of text, and keeps it for values that come later."""

    def perform(self, slice_: Slice, event: Event) -> Report:
        text = self.get(event.data)
        if isinstance(text, str) and text:
            slice_.memory[self.machine.position].earlier.add(text, event.number, (len(text),))
        return super().perform(slice_, event)

    def extend(self, slice_: Slice, stretch: Stretch) -> None:
        column = stretch.columns.get(self.path)
        if column is not None:
            earlier = slice_.memory[self.machine.position].earlier
            earlier.add(column.joined, stretch.first, column.lengths)
        super().extend(slice_, stretch)
