"""Form `fold` with `lacks`: text that must not hold markers, or the text of another fold."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from conformance.core.events import Event
from conformance.rules.model import Fold, Overlap, Rule
from conformance.rules.monitors.base import Context, Key, Monitor, State
from conformance.rules.monitors.texts import Hit, Search
from conformance.rules.paths import getter
from conformance.rules.repetition import Stretch, is_related

LONGEST_NEEDLE: Final = 256
MOST_NEEDLES: Final = 64


class Watched(State):
    """A slice of `lacks`: the text that streams by, and the other fold's open text."""

    __slots__ = ("needle", "needles", "search")

    def __init__(self, markers: tuple[str, ...]) -> None:
        super().__init__()
        self.search = Search(markers)
        self.needle = ""
        self.needles = 0


class LacksMonitor(Monitor[Watched]):
    """Text holds none of some markers, or not the text of another fold, under any chunking.

    Of the other fold the first LONGEST_NEEDLE characters of each uninterrupted run are looked
    for: a leak begins at the beginning, and memory stays bounded.
    """

    collects = True
    spreads = True

    def __init__(self, rule: Rule, context: Context, form: Fold, markers: tuple[str, ...]) -> None:
        super().__init__(rule, context)
        self.form = form
        self.markers = markers
        self.over = form.lacks if isinstance(form.lacks, Overlap) else None
        self._paths = {name: getter(path) for name, path in form.paths.items()}
        self._others = {n: getter(p) for n, p in self.over.paths.items()} if self.over else {}

    def state(self, key: Key) -> Watched:  # noqa: ARG002  # the same for every key
        return Watched(self.markers)

    def step(self, event: Event, names: frozenset[str]) -> None:
        for key, state in self.reached(event):
            if other := names & self._others.keys():
                self._extend(state, self._others[min(other)](event.data))
            if own := names & self._paths.keys():
                self._look(key, state, event, self._paths[min(own)](event.data))

    def _extend(self, state: Watched, text: Any) -> None:
        if isinstance(text, str) and len(state.needle) < LONGEST_NEEDLE:
            state.needle = (state.needle + text)[:LONGEST_NEEDLE]

    def _look(self, key: Key, state: Watched, event: Event, text: Any) -> None:
        if not isinstance(text, str) or not text:
            return
        if self.over is not None:
            self._arm(state, self.over.at_least)
        state.fired = state.fired or bool(state.search.needles)
        hit = state.search.feed(text, event.number)
        if hit is not None:
            self._found(key, hit)

    def still(self, event: Event, names: frozenset[str], columns: Collection[str]) -> bool:
        return all(
            (path in columns and isinstance(getter(path)(event.data), str))
            or not (is_related(path, columns) or getter(path)(event.data))
            for path in self._looked_at(names)
        )

    def fits(self, stretch: Stretch, names: frozenset[str]) -> bool:
        if not self.affords(stretch):
            return False
        path = self._column(stretch, names, self.form.paths)
        if path is None:
            return True
        text = stretch.columns[path].joined
        return not any(state.search.finds(text) for _, state in self.peeked(stretch.event))

    def extend(self, stretch: Stretch, names: frozenset[str]) -> None:
        self.visit(stretch)
        own = self._column(stretch, names, self.form.paths)
        other = self._column(stretch, names, self.over.paths) if self.over else None
        for _, state in self.peeked(stretch.event):
            if other is not None:
                self._extend(state, stretch.columns[other].joined)
            if own is not None:
                texts = stretch.columns[own]
                state.search.skip(texts, len(texts.joined), stretch.last)

    def _looked_at(self, names: frozenset[str]) -> list[str]:
        every = {**self.form.paths, **(self.over.paths if self.over else {})}
        return [path for name, path in every.items() if name in names]

    @staticmethod
    def _column(stretch: Stretch, names: frozenset[str], paths: Mapping[str, str]) -> str | None:
        named = names & paths.keys()
        path = paths[min(named)] if named else ""
        return path if path in stretch.columns else None

    @staticmethod
    def _arm(state: Watched, at_least: int) -> None:
        needle, state.needle = state.needle.strip(), ""
        if len(needle) >= at_least and state.needles < MOST_NEEDLES:
            state.search.add(needle)
            state.needles += 1

    def _found(self, key: Key, hit: Hit) -> None:
        spread = f", begun in event {hit.first}" if hit.first != hit.last else ""
        clipped = hit.needle if len(hit.needle) <= 60 else hit.needle[:60] + "…"
        message = f"{clipped!r} in text (…{hit.around[:120]!r}…){spread}"
        self.violate(key, hit.last, message, expected=("text without it",), got=repr(clipped))
