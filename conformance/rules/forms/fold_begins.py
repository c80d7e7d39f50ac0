"""Folds with `begins: {not: ...}`: text does not begin with one of some words.

White space before them is let be, and so is a word that the request spells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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

_SETTLED: Final = "SETTLED"  # it has begun with something else
_TEXT: Final = {"type": "string", "minLength": 1}


class Beginning:
    """What the text began with so far, without white space before it."""

    __slots__ = ("text",)

    def __init__(self) -> None:
        self.text = ""


class BeginsMachine(Machine):
    """Once the text has begun with something else, nothing is looked at any more."""

    def __init__(
        self,
        aliases: Mapping[str, Alias],
        over: Mapping[str, str],
        words: tuple[str, ...],
        *,
        sliced: bool,
    ) -> None:
        super().__init__(aliases, sliced=sliced)
        self.over = over
        self.words = words
        self.beginnings = frozenset(each[:size] for each in words for size in range(len(each) + 1))

    def needs(self, name: str) -> tuple[str, Any]:
        return self.over[name], _TEXT

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
