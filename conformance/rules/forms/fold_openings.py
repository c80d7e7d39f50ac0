"""Folds that look at how texts begin, until that is settled: `begins` and `grows`.

`begins: {not: ...}`: a text does not begin with one of some words. White space before them does not
count, and neither does a word that the request spells.
`grows: false`: deltas are increments, not everything so far again and again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Event
from conformance.core.excerpts import beginning
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
_SETTLED: Final = "SETTLED"  # it has begun with something else
_TEXT: Final = {"type": "string", "minLength": 1}


class _OpeningMachine(Machine):
    """Reads the texts of some events."""

    def __init__(
        self, aliases: Mapping[str, Alias], over: Mapping[str, str], *, sliced: bool
    ) -> None:
        super().__init__(aliases, sliced=sliced)
        self.over = over

    def needs(self, name: str) -> tuple[str, Any]:
        return self.over[name], _TEXT


class Beginning(Struct):
    """What the text began with so far, without white space before it."""

    text: str = ""


class BeginsMachine(_OpeningMachine):
    """Once the text has begun with something else, nothing is looked at any more."""

    def __init__(
        self,
        aliases: Mapping[str, Alias],
        over: Mapping[str, str],
        words: tuple[str, ...],
        *,
        sliced: bool,
    ) -> None:
        super().__init__(aliases, over, sliced=sliced)
        self.words = words
        self.beginnings = frozenset(each[:size] for each in words for size in range(len(each) + 1))

    def memory(self) -> Beginning:
        return Beginning()

    def fired(self, state: State) -> bool:
        return state in {FIRED, _SETTLED}

    def step(self, state: State, names: Names) -> Step:
        return state, (() if state == _SETTLED else (_ReadBeginning(self, min(names)),))


class _ReadBeginning(Act):
    def __init__(self, machine: BeginsMachine, name: str) -> None:
        self.machine = machine
        self.get = getter(machine.over[name])

    def perform(self, slice_: Slice, event: Event) -> Report:
        begun: Beginning = slice_.memory[self.machine.position]
        begun.text = (begun.text + self.get(event.data)).lstrip()
        words = self.machine.words if begun.text.startswith(self.machine.words) else ()
        word = next(filter(begun.text.startswith, words), None)
        if word is not None and not slice_.context.spelled(word.strip()):
            message = f"the text begins with {word!r} (…{beginning(begun.text, 60, '')!r}…)"
            about = About(BreachKind.MARKED)
            return Breach(message, ("text without it",), repr(word), about=about)
        return FIRED if begun.text in self.machine.beginnings else _SETTLED


class Growth(Struct):
    """The delta before, and how many there were while each began with its predecessor."""

    before: str = ""
    count: int = 0


class GrowsMachine(_OpeningMachine):
    """Of at least four deltas in a slice, not every one begins with the one before it.

    Two are enough where the first has LONG_DELTA characters, which no model says again by chance,
    and three where the second has WORDS_DELTA.

    The first that does not settles it: from then on nothing is looked at any more.
    """

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
