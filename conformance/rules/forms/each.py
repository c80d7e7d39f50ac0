"""Form `each`: every such event satisfies a JSON Schema.

Its subject is an event of which the schema asks something: a field that it names is there, or has
to be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, ClassVar, Final, Self

from conformance.core.events import Event
from conformance.core.excerpts import beginning
from conformance.rules.about import About, BreachKind, Change, fields_held
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
from conformance.rules.forms.differences import view
from conformance.rules.forms.reading import FormReader, must_compile
from conformance.rules.node import Node
from conformance.rules.paths import MISSING
from conformance.rules.patterns import SchemaTest, probe, schema_test
from conformance.rules.repetition import Columns, Stretch, column_schemas
from conformance.rules.schema_faults import schema_fault
from conformance.rules.schemas import Check


class Each(Form, frozen=True):
    key: ClassVar[str] = "each"
    events: tuple[str, ...]
    schema: Any

    @classmethod
    def read(cls, reader: FormReader, rule: Node, node: Node) -> Self:
        del rule
        node.mapping({"of", "schema"})
        schema = node.required("schema")
        plain = schema.plain()
        must_compile(schema, lambda: probe(plain, schema_test))
        return cls(reader.named_events(node.required("of")), plain)

    def knob_values(self) -> Sequence[Any]:
        return (self.schema,)

    def lack(self, events: Mapping[str, str]) -> str:
        return f"no {listed(events, self.events)} with what is judged"

    @property
    def looked_at(self) -> Mapping[str, str]:
        return dict.fromkeys(self.events, "*")

    def machine(
        self, aliases: Mapping[str, Alias], knobs: Mapping[str, Any], *, sliced: bool
    ) -> Machine:
        return EachMachine(aliases, schema_test(self.schema, knobs), sliced=sliced)


class EachMachine(Machine):
    """One question to every event."""

    def __init__(self, aliases: Mapping[str, Alias], test: SchemaTest, *, sliced: bool) -> None:
        super().__init__(aliases, sliced=sliced)
        self._first = (_CheckSchema(test, is_first=True),)
        self._later = (_CheckSchema(test, is_first=False),)

    def step(self, state: State, names: Names) -> Step:
        del names
        return state, self._first if state is OPEN else self._later


_REFERENCES: Final = ("$ref", "$dynamicRef")  # to what is elsewhere in the schema
_FOLLOWING: Final = ("then", "else")
_SILENT: Final = frozenset({"if", "$schema", "$id", "$comment", "$defs", "title", "description"})


class _CheckSchema(Act):
    def __init__(self, test: SchemaTest, *, is_first: bool) -> None:
        self.test = test
        self.is_first = is_first
        self._is_valid = test.is_valid
        self._column_tests = lru_cache(maxsize=256)(partial(_column_tests, test.schema))

    def perform(self, slice_: Slice, event: Event) -> Report:
        del slice_
        if self._is_valid(event.data):
            return FIRED if self.is_first and self._subject_check(event.data) else None
        fault = schema_fault(self.test.first_error(event.data), view)
        # A long value is clipped with its path, as the message has both.
        shown = beginning(f"{fault.path or 'payload'}={view(fault.value)}", 300, "")
        path, _, got = shown.partition("=")
        message = f"{path} of {event.type}: expected {fault.wanted}, got {got}"
        fields = fields_held({fault.path or "payload": fault.value})
        change = Change.LOST if fault.value is MISSING else Change.NONE
        about = About(BreachKind.FIELD, event.type, fields=fields, change=change)
        return Breach(message, (fault.wanted,), got, about=about)

    @cached_property
    def _subject_check(self) -> Check:
        """Whether the subject is there; made for those rules that meet an event."""
        return asker(self.test.schema)

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        # Of what differs in the columns alone the schema asks as much: they are all there.
        del slice_, event
        return self._column_tests(columns) is not None

    def fits(self, slice_: Slice, stretch: Stretch) -> bool:
        del slice_
        tests = self._column_tests(tuple(stretch.columns)) or ()
        return all(all(map(is_valid, stretch.columns[path])) for path, is_valid in tests)


def asker(schema: Any) -> Check:
    """A check whether a JSON Schema, valid for a value, has constrained it at all.

    It has not if it only names missing fields, elements of an empty list, or consequences of a
    condition that does not hold.
    """
    if not isinstance(schema, Mapping):
        return lambda _value: schema is False
    each_asks = [_keyword_asker(schema, keyword) for keyword in schema if keyword not in _SILENT]
    return lambda value: any(asks(value) for asks in each_asks)


def _keyword_asker(schema: Mapping[str, Any], keyword: str) -> Check:
    inner = schema[keyword]
    if keyword == "properties":
        return _fields_asker(inner)
    if keyword == "items":
        asks = asker(inner)
        return lambda value: isinstance(value, list) and any(map(asks, value))
    if keyword == "prefixItems":
        in_order = [asker(each) for each in inner]
        return lambda value: (
            isinstance(value, list)
            and any(asks(element) for asks, element in zip(in_order, value, strict=False))
        )
    if keyword in _FOLLOWING:
        holds, asks = SchemaTest(schema.get("if", True)).is_valid, asker(inner)
        return lambda value: holds(value) is (keyword == "then") and asks(value)
    if keyword in ("allOf", "anyOf", "oneOf"):
        of_each = [asker(each) for each in inner]
        return lambda value: any(asks(value) for asks in of_each)
    return lambda _value: True


def _fields_asker(schemas: Mapping[str, Any]) -> Check:
    fields = [(name, asker(schema)) for name, schema in schemas.items() if schema is not False]
    if len(fields) < len(schemas):
        return lambda _value: True  # a field that may not be there
    return lambda value: (
        isinstance(value, Mapping)
        and any(name in value and asks(value[name]) for name, asks in fields)
    )


def _column_tests(schema: Any, columns: Columns) -> tuple[tuple[str, Check], ...] | None:
    """Tests of the columns' values by path; None where more than their values decides."""
    parts = column_schemas(schema, "", columns)
    if parts is None or any(name in str(inner) for _, inner in parts for name in _REFERENCES):
        return None
    return tuple((path, SchemaTest(inner).is_valid) for path, inner in parts)
