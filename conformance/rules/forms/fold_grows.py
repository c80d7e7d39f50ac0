"""Folds with `grows: false`: deltas are increments, not everything so far again and again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Event
from conformance.rules.about import About, BreachKind
from conformance.rules.alias import Alias
from conformance.rules.forms.base import (
    FIRED,
    Act,
    Breach,
    Machine,
    Names,
    Report,
    Slice,
    State,
    Step,
)
from conformance.rules.paths import getter

GROWING_DELTAS: Final = 4
LONG_DELTA: Final = 32
WORDS_DELTA: Final = 12
_TEXT: Final = {"type": "string", "minLength": 1}


class Growth(Struct):
    """The delta before, and how many there were while each began with its predecessor."""

    before: str = ""
    count: int = 0


class GrowsMachine(Machine):
    """Of at least four deltas in a slice, not every one begins with the one before it.

    Two are enough where the first has LONG_DELTA characters, which no model says again by chance,
    and three where the second has WORDS_DELTA.

    The first that does not settles it: from then on nothing is looked at any more.
    """

    def __init__(
        self, aliases: Mapping[str, Alias], over: Mapping[str, str], *, sliced: bool
    ) -> None:
        super().__init__(aliases, sliced=sliced)
        self.over = over

    def needs(self, name: str) -> tuple[str, Any]:
        return self.over[name], _TEXT

    def memory(self) -> Growth:
        return Growth()

    def step(self, state: State, names: Names) -> Step:
        return state, (() if state is FIRED else (_CompareDelta(self, min(names)),))


class _CompareDelta(Act):
    def __init__(self, machine: GrowsMachine, name: str) -> None:
        self.machine = machine
        self.get = getter(machine.over[name])

    def perform(self, slice_: Slice, event: Event) -> Report:
        growth: Growth = slice_.memory[self.machine.position]
        text = self.get(event.data)
        if len(text) <= len(growth.before) or not text.startswith(growth.before):
            growth.before = ""
            return FIRED
        is_long = len(growth.before) >= (WORDS_DELTA if growth.count > 1 else LONG_DELTA)
        growth.before = text
        growth.count += 1
        if growth.count < GROWING_DELTAS and not is_long:
            return None
        message = f"each of {growth.count} deltas begins with the one before"
        return Breach(message, ("increments",), "whole text", about=About(BreachKind.REPEATED))
