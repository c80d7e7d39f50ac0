"""Form `grammar`: the events that the rule names spell a word, slice by slice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Self

from conformance.core.errors import SpecError
from conformance.core.events import Event
from conformance.rules import grammar
from conformance.rules.about import About, BreachKind
from conformance.rules.alias import Alias
from conformance.rules.forms.base import (
    SILENT,
    Act,
    Breach,
    CapReachedError,
    Form,
    Machine,
    Names,
    ReportAct,
    Slice,
    State,
    Step,
    either,
)
from conformance.rules.forms.reading import FormReader
from conformance.rules.node import Node


class Grammar(Form, frozen=True):
    key: ClassVar[str] = "grammar"
    root: grammar.Expression
    text: str

    @classmethod
    def read(cls, reader: FormReader, rule: Node, node: Node) -> Self:
        del rule
        text = node.string()
        try:
            root = grammar.parse(text)
        except grammar.GrammarError as err:
            raise _error_inside(node, err) from err
        for name in sorted(grammar.names(root)):
            reader.use(_name_inside(node, name))
        return cls(root, text)

    @property
    def is_ordered(self) -> bool:
        return True

    def machine(
        self, aliases: Mapping[str, Alias], knobs: Mapping[str, Any], *, sliced: bool
    ) -> Machine:
        del knobs
        return GrammarMachine(aliases, grammar.Automaton(self.root), sliced=sliced)


class GrammarMachine(Machine):
    """The state is that of the grammar's automaton."""

    def __init__(
        self, aliases: Mapping[str, Alias], automaton: grammar.Automaton, *, sliced: bool
    ) -> None:
        super().__init__(aliases, sliced=sliced)
        self.automaton = automaton

    def opened_state(self) -> State:
        return self.automaton.start

    def fired(self, state: State) -> bool:
        return state is not SILENT

    def step(self, state: State, names: Names) -> Step:
        try:
            following = self.automaton.step(state, names)
        except grammar.TooManyStatesError as err:
            raise CapReachedError(str(err)) from err
        if following >= 0:
            return following, ()
        return SILENT, (ReportAct(partial(self._breach, state, False)),)

    def close(self, state: State) -> tuple[Act, ...]:
        if self.automaton.accepts(state):
            return ()
        return (ReportAct(partial(self._breach, state, True)),)

    def _breach(self, state: State, is_end: bool, slice_: Slice, event: Event) -> Breach:
        names, came = self.automaton.expected(state), event.type
        expected, after = self.describe(names), slice_.last_mark(self.position)
        expected += ("end of stream",) * self.automaton.accepts(state)
        trail = f" after {after}" if after else " first"
        message = f"expected {either(expected)}{trail}, got {came}"
        about = About(BreachKind.ORDER, "" if is_end else came, self.types(names))
        return Breach(message, expected, came, after, owed=is_end, about=about)


def _error_inside(node: Node, err: grammar.GrammarError) -> SpecError:
    return node.source.error(node.line, node.column + node.quoted + err.column, str(err))


def _name_inside(node: Node, name: str) -> Node:
    """A node for one name inside a grammar's text, at its own column."""
    found = re.search(rf"(?<![\w.\-\[]){re.escape(name)}(?![\w.\-\]])", str(node.value))
    at = found.start() if found else 0
    return Node("scalar", name, node.line, node.column + node.quoted + at, node.source)
