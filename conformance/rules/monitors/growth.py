"""Form `fold` with `grows: false`: deltas that repeat everything before them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from conformance.core.events import Event
from conformance.rules.model import Fold, Rule
from conformance.rules.monitors.base import Context, Key, Monitor, State
from conformance.rules.paths import getter
from conformance.rules.repetition import is_related

GROWING_DELTAS: Final = 4


class Growth(State):
    """The delta before, and how many there were while each began with its predecessor."""

    __slots__ = ("before", "count", "normal")

    def __init__(self) -> None:
        super().__init__()
        self.before = ""
        self.count = 0
        self.normal = False


class GrowsMonitor(Monitor[Growth]):
    """Of at least four deltas in a slice, not every one begins with the one before it."""

    def __init__(self, rule: Rule, context: Context, form: Fold) -> None:
        super().__init__(rule, context)
        self.form = form
        self._paths = {name: getter(path) for name, path in form.paths.items()}

    def state(self, key: Key) -> Growth:  # noqa: ARG002  # the same for every key
        return Growth()

    def step(self, event: Event, names: frozenset[str]) -> None:
        text = self._paths[min(names)](event.data)
        if not isinstance(text, str) or not text:
            return
        for key, growth in self.reached(event):
            if not growth.normal:
                self._grow(key, growth, event, text)

    def still(self, event: Event, names: frozenset[str], columns: Collection[str]) -> bool:
        growths = [growth for _, growth in self.peeked(event)]
        if not growths and self.may_open(event):  # an empty text opened nothing; the next may
            return not is_related(self.form.paths[min(names)], columns)
        return all(growth.normal for growth in growths)

    def _grow(self, key: Key, growth: Growth, event: Event, text: str) -> None:
        if len(text) <= len(growth.before) or not text.startswith(growth.before):
            growth.normal = growth.fired = True
            growth.before = ""
            return
        growth.before = text
        growth.count += 1
        if growth.count >= GROWING_DELTAS:
            message = f"each of {growth.count} deltas begins with the one before"
            self.violate(key, event.number, message, expected=("increments",), got="whole text")
