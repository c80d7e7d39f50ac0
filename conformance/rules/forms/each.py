"""Form `each`: every such event satisfies a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, ClassVar, Final, Self

from conformance.core.events import Event
from conformance.rules.alias import Alias
from conformance.rules.forms.base import (
    FIRED,
    Act,
    Breach,
    Form,
    Machine,
    Names,
    Report,
    Slice,
    State,
    Step,
)
from conformance.rules.forms.reading import FormReader, must_compile
from conformance.rules.node import Node
from conformance.rules.patterns import SchemaTest, probe, schema_test
from conformance.rules.repetition import Columns, Stretch, column_schemas
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

    @property
    def looked_at(self) -> Mapping[str, str]:
        return dict.fromkeys(self.events, "*")

    def machine(
        self, aliases: Mapping[str, Alias], knobs: Mapping[str, Any], *, sliced: bool
    ) -> Machine:
        check = _CheckSchema(schema_test(self.schema, knobs))
        return EachMachine(aliases, check, sliced=sliced)


class EachMachine(Machine):
    """One question to every event."""

    def __init__(self, aliases: Mapping[str, Alias], check: Act, *, sliced: bool) -> None:
        super().__init__(aliases, sliced=sliced)
        self._acts = (check,)

    def opened_state(self) -> State:
        return FIRED

    def step(self, state: State, names: Names) -> Step:
        del names
        return state, self._acts


_REFERENCES: Final = ("$ref", "$dynamicRef")  # to what stands elsewhere in the schema


class _CheckSchema(Act):
    def __init__(self, test: SchemaTest) -> None:
        self.test = test
        self._is_valid = test.is_valid
        self._column_tests = lru_cache(maxsize=256)(partial(_column_tests, test.schema))

    def perform(self, slice_: Slice, event: Event) -> Report:
        del slice_
        if self._is_valid(event.data):
            return None
        error = self.test.first_error(event.data)
        path = ".".join(str(part) for part in error.instance_path) or "payload"
        what = str(error.message)[:300]
        return Breach(f"{path} of {event.type}: {what}", (_broken_keyword(error),), what)

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        del slice_, event
        return self._column_tests(columns) is not None

    def fits(self, slice_: Slice, stretch: Stretch) -> bool:
        del slice_
        tests = self._column_tests(tuple(stretch.columns)) or ()
        return all(all(map(is_valid, stretch.columns[path])) for path, is_valid in tests)


def _column_tests(schema: Any, columns: Columns) -> tuple[tuple[str, Check], ...] | None:
    """Tests of the columns' values by path; None where more than their values decides."""
    asked = column_schemas(schema, "", columns)
    if asked is None or any(name in str(inner) for _, inner in asked for name in _REFERENCES):
        return None
    return tuple((path, SchemaTest(inner).is_valid) for path, inner in asked)


def _broken_keyword(error: Any) -> str:
    keyword = str(error.schema_path[-1]) if error.schema_path else "schema"
    return ".".join(map(str, error.schema_path)) if keyword.isdecimal() else keyword
