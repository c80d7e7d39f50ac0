"""Form `carries`: an event holds what a table says of its kind, each value of the type it says.

The table is the only place that states it: a reader takes a text that is missing, or is none, for
nothing, so that words would be lost without a sign. Its subject is an event of which it says
something that is there, or that has to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar, Final, Self

from conformance.core.events import Event
from conformance.rules.about import About, BreachKind
from conformance.rules.alias import Alias
from conformance.rules.forms.base import (
    FIRED,
    OPEN,
    Act,
    Breach,
    Form,
    Machine,
    Names,
    Report,
    Slice,
    State,
    Step,
    listed,
)
from conformance.rules.forms.carried import ABSENT, KINDS, CarriedField, CarriedValue
from conformance.rules.forms.reading import FormReader
from conformance.rules.node import Node
from conformance.rules.repetition import Columns, is_related

WIRE_TYPES: Final = "types"
Table = Mapping[str, Mapping[str, CarriedField]]


class Carries(Form, frozen=True):
    """`table` maps an event name to its rows: path -> allowed values."""

    key: ClassVar[str] = "carries"
    table: Table

    @classmethod
    def read(cls, reader: FormReader, rule: Node, node: Node) -> Self:
        del rule
        entries = node.mapping()
        if not entries:
            raise node.error("expected a map from event to what it holds, got an empty one")
        return cls(
            {reader.use(node.key(name)): _read_rows(reader, v) for name, v in entries.items()}
        )

    def lack(self, events: Mapping[str, str]) -> str:
        return f"no {listed(events, self.table)} with what is judged"

    @property
    def looked_at(self) -> Mapping[str, str]:
        return dict.fromkeys(self.table, "*")

    def paths(self) -> Iterator[tuple[str, str]]:
        for name, rows in self.table.items():
            yield from ((name, plain_path(path)) for path in rows)

    def machine(
        self, aliases: Mapping[str, Alias], knobs: Mapping[str, Any], *, sliced: bool
    ) -> Machine:
        del knobs
        return CarriesMachine(aliases, self.table, sliced=sliced)


def _read_rows(reader: FormReader, node: Node) -> dict[str, CarriedField]:
    entries = node.mapping()
    if not entries:
        raise node.error("expected a map from path to what is there, got an empty one")
    return {path: _read_field(reader, value) for path, value in entries.items()}


def _read_field(reader: FormReader, node: Node) -> CarriedField:
    if node.kind != "mapping":
        return CarriedField(_read_kinds(node))
    entries = node.mapping({"is", "words"})
    kinds = _read_kinds(entries["is"]) if "is" in entries else ("value", ABSENT)
    return CarriedField(kinds, _read_words(reader, node.required("words")))


def _read_kinds(node: Node) -> tuple[str, ...]:
    nodes = node.sequence() if node.kind == "sequence" else (node,)
    known = tuple(kind for kind in KINDS if kind != "null")  # it is written as YAML writes it
    return tuple("null" if _is_null(each) else each.one_of(known) for each in nodes)


def _is_null(node: Node) -> bool:
    return node.kind == "scalar" and node.value is None


def _read_words(reader: FormReader, node: Node) -> tuple[str, ...]:
    """A list of words, or `types`: those of the wire events that the dialect knows."""
    if node.kind == "sequence" and node.value:
        return tuple(each.string() for each in node.sequence())
    vocabulary = reader.names.vocabulary
    if node.value != WIRE_TYPES or vocabulary is None:
        raise node.error(f"expected a list of words, or {WIRE_TYPES} in the suite of a dialect")
    return tuple(sorted(vocabulary.wire))


def plain_path(path: str) -> str:
    """The path as other forms write it: `*` for elements of every kind."""
    return ".".join("*" if each.startswith("*") else each for each in path.split("."))


class CarriesMachine(Machine):
    """One question to every event, by the names it answers to."""

    def __init__(self, aliases: Mapping[str, Alias], table: Table, *, sliced: bool) -> None:
        super().__init__(aliases, sliced=sliced)
        self._table = table
        self._acts = lru_cache(maxsize=256)(self._acts_for)

    def step(self, state: State, names: Names) -> Step:
        return state, self._acts(names, state is OPEN)

    def _acts_for(self, names: Names, is_first: bool) -> tuple[Act, ...]:
        rows: dict[str, CarriedField] = {}
        for name in sorted(names):
            for path, row in self._table[name].items():
                rows[path] = rows[path].both(row) if path in rows else row
        return (_CheckFields(rows, is_first=is_first),)


class _CheckFields(Act):
    def __init__(self, rows: Mapping[str, CarriedField], *, is_first: bool) -> None:
        self.payload = CarriedValue([(tuple(path.split(".")), row) for path, row in rows.items()])
        self.is_first = is_first
        self._worded = tuple(plain_path(path) for path, row in rows.items() if row.words)

    def perform(self, slice_: Slice, event: Event) -> Report:
        del slice_
        payload, data = self.payload, event.data
        if payload.is_sound(data):
            return FIRED if self.is_first and self._asks_about(data) else None
        faults = list(payload.faults(data, ""))
        # A key that is there instead says most; what holds others says more than what it holds.
        fault = min(faults, key=lambda each: (not each.note, each.path.count(".")))
        more = f" ({fault.note})" if fault.note else ""
        message = (
            f"{fault.path} of {event.type}: expected {fault.wanted}, found {fault.found}{more}"
        )
        about = About(BreachKind.UNREAD_FIELD, event.type, fields=((fault.path, fault.found),))
        return Breach(message, (fault.wanted,), fault.found, about=about)

    def _asks_about(self, data: Mapping[str, Any]) -> bool:
        """Whether the subject is there."""
        return bool(self.payload.required) or not self.payload.keys.keys().isdisjoint(data)

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        """Columns are of one type each, and hold no empty text."""
        del slice_, event
        return not self.is_first and not any(is_related(path, columns) for path in self._worded)
