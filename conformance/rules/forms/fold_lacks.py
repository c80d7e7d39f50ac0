"""Folds with `lacks`: a text, however it is cut, holds no marker, or not the text of another fold.

Of the other fold, the first LONGEST_NEEDLE characters of each uninterrupted run are searched: a
leak starts at the beginning, and memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, Final

from conformance.core.events import Event
from conformance.core.excerpts import beginning
from conformance.rules.about import About, BreachKind
from conformance.rules.alias import Alias
from conformance.rules.forms.base import (
    FIRED,
    OPEN,
    Act,
    Breach,
    Machine,
    Names,
    Report,
    ReportAct,
    Slice,
    State,
    Step,
)
from conformance.rules.forms.mentions import MarkerNeedles, MentionSearch
from conformance.rules.forms.texts import Hit, Needles, Search
from conformance.rules.paths import MISSING, getter
from conformance.rules.repetition import Columns, Stretch, is_related

LONGEST_NEEDLE: Final = 256
_CLOSING: Final = ("</", "[/")  # how markers begin that close something
MOST_NEEDLES: Final = 64


class WatchedText:
    """The text that streams by, and the other fold's open text."""

    __slots__ = ("needle", "needles", "search")

    def __init__(self, search: Search) -> None:
        self.search = search
        self.needle = ""
        self.needles = 0

    def add_to_needle(self, text: str) -> None:
        """Takes text of the other fold."""
        if len(self.needle) < LONGEST_NEEDLE:
            self.needle = (self.needle + text)[:LONGEST_NEEDLE]

    def end_needle(self, machine: LacksMachine) -> None:
        """Looks for the other fold's text from here on, if it has as many characters."""
        needle, self.needle = self.needle.strip(), ""
        if machine.looks_for(needle) and self.needles < MOST_NEEDLES:
            self.search.add(needle)
            self.needles += 1


def breach(hit: Hit, where: str, number: int | None = None) -> Breach:
    """The breach to report for a needle that was found."""
    clipped = beginning(hit.needle, 60)
    message = f"{clipped!r} in text (…{beginning(hit.around, 120, '')!r}…){where}"
    opens = hit.needle.startswith(_CLOSING) and hit.around.startswith(_CLOSING)
    about = About(BreachKind.MARKED, opens=opens)
    return Breach(message, ("text without it",), repr(clipped), number=number, about=about)


class LacksMachine(Machine):
    """Searches the text of `over`, for the text of `other` if there is one."""

    def __init__(
        self,
        aliases: Mapping[str, Alias],
        over: Mapping[str, str],
        other: Mapping[str, str],
        *,
        markers: tuple[str, ...] = (),
        sizes: tuple[int, int | None] | None = None,
        sliced: bool,
    ) -> None:
        super().__init__(aliases, sliced=sliced)
        self.over = over
        self.other = other
        self.needles = Needles.of(markers)
        self.sizes = sizes

    def memory(self) -> Any:
        return WatchedText(Search(self.needles))

    def looks_for(self, needle: str) -> bool:
        """Whether a text of the other fold is long enough to be searched for."""
        at_least, at_most = self.sizes or (1, None)
        return len(needle) >= at_least and (at_most is None or len(needle) <= at_most)

    def step(self, state: State, names: Names) -> Step:
        acts: list[Act] = []
        if other := names & self.other.keys():
            acts.append(_TakeNeedle(self, self.other[min(other)]))
        if own := names & self.over.keys():
            acts.append(SearchText(self, self.over[min(own)], is_first=state is OPEN))
        return state, tuple(acts)


class ReadText(Act):
    """Reads one of the two texts."""

    collects = True

    def __init__(self, machine: LacksMachine, path: str) -> None:
        self.machine = machine
        self.path = path
        self.get = getter(path)

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        del slice_
        value = self.get(event.data)
        if self.path in columns and isinstance(value, str):
            return True
        return not (is_related(self.path, columns) or (value and value is not MISSING))


class _TakeNeedle(ReadText):
    """Takes the text that may not come again in the other."""

    def perform(self, slice_: Slice, event: Event) -> None:
        text = self.get(event.data)
        if isinstance(text, str):
            slice_.memory[self.machine.position].add_to_needle(text)

    def extend(self, slice_: Slice, stretch: Stretch) -> None:
        column = stretch.columns.get(self.path)
        if column is not None:
            slice_.memory[self.machine.position].add_to_needle(column.joined)


class SearchText(ReadText):
    """Searches the next piece of text."""

    def __init__(self, machine: LacksMachine, path: str, *, is_first: bool) -> None:
        super().__init__(machine, path)
        self.is_first = is_first

    def perform(self, slice_: Slice, event: Event) -> Report:
        text = self.get(event.data)
        if not isinstance(text, str) or not text:
            return None
        watched: WatchedText = slice_.memory[self.machine.position]
        if watched.needle:
            watched.end_needle(self.machine)
        search = watched.search
        hit = search.feed(text, event.number)
        if hit is None:
            return FIRED if self.is_first and search.needles else None
        spread = f", begun in event {hit.first}" if hit.first != hit.last else ""
        return breach(hit, spread, number=hit.last)

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        watched: WatchedText = slice_.memory[self.machine.position]
        is_settled = not self.is_first or not watched.search.needles
        return is_settled and not watched.needle and super().still(slice_, event, columns)

    def fits(self, slice_: Slice, stretch: Stretch) -> bool:
        column = stretch.columns.get(self.path)
        watched: WatchedText = slice_.memory[self.machine.position]
        return column is None or not watched.search.finds(column.joined)

    def extend(self, slice_: Slice, stretch: Stretch) -> None:
        column = stretch.columns.get(self.path)
        if column is not None:
            watched: WatchedText = slice_.memory[self.machine.position]
            watched.search.skip(column, stretch.last)


# Most profiles search for the same markers.
_marker_needles: Final = lru_cache(maxsize=64)(MarkerNeedles.of)


class LacksMarkersMachine(LacksMachine):
    """`over` is the text that is searched for markers; what it only speaks of is let be."""

    def __init__(
        self,
        aliases: Mapping[str, Alias],
        over: Mapping[str, str],
        markers: tuple[str, ...],
        *,
        sliced: bool,
    ) -> None:
        super().__init__(aliases, over, {}, sliced=sliced)
        self.markers = _marker_needles(markers)

    def memory(self) -> Any:
        return WatchedText(MentionSearch(self.markers))

    def step(self, state: State, names: Names) -> Step:
        act = _SearchFirst if state is OPEN else SearchText
        return state, (act(self, self.over[min(names)], is_first=state is OPEN),)

    def close(self, state: State) -> tuple[Act, ...]:
        del state
        return (ReportAct(self._open_marker),)

    def _open_marker(self, slice_: Slice, event: Event) -> Report:
        del event
        hit = slice_.memory[self.position].search.end()
        return hit and breach(hit, "", number=hit.last)


class _SearchFirst(SearchText):
    """Searches the first piece of text; what the request spells is known by then."""

    def perform(self, slice_: Slice, event: Event) -> Report:
        search: MentionSearch = slice_.memory[self.machine.position].search
        search.is_spelled = cache(slice_.context.spelled)
        return super().perform(slice_, event)
