"""The tools that a request offers, and how the calls of an answer fit them.

A call that ends gets one more field for the rules, its `fit`:

- `fits`, or `fits nothing` if the tool does not describe its arguments;
- `nothing: ...` if a key is required, but there is no value or not an object;
- `unfit: ...` if a key is missing, has another type, or is not allowed by the schema;
- `unknown: ...` if no tool has that name.

Arguments that are not JSON have no `fit`, nor have non-objects where no key is required: rules of
the API cover both. Calls that the server carries out itself have none either. Of JSON Schema,
`type`, `required`, `properties`, `items`, `enum`, `const`, `additionalProperties: false`, `anyOf`,
`oneOf`, `allOf` and local `$ref` are read; anything else in a schema counts as fitting. Schemas
come from outside, so depth and work are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, KeysView, Mapping
from typing import Any, Final

from conformance.core.events import Event, Request
from conformance.core.json_values import NOT_JSON, decode_json
from conformance.dialects.base import Dialect
from conformance.judging.tool_schema import (
    misfit,
    required_keys,
    required_names,
    requires_all,
    takes_object,
)

_MOST_TOOLS: Final = 4096
_SCHEMAS: Final = ("parameters", "parametersJsonSchema", "input_schema", "inputSchema")
_LONGEST: Final = 80  # characters of a name that is shown


class OfferedTools:
    """Schemas by name; `is_closed` where every tool is known, so that another name is none."""

    def __init__(
        self, schemas: Mapping[str, Any], texts: Mapping[str, str], *, is_closed: bool
    ) -> None:
        self._schemas = schemas
        self._texts = texts
        self._is_closed = is_closed
        self.calls = 0
        self.fitting = 0

    @classmethod
    def of(cls, dialect: Dialect, request: Request | None) -> OfferedTools | None:
        """Those of a request; None where it was not recorded, or offers none."""
        body = request.json if request is not None else None
        if dialect.request is None or not isinstance(body, Mapping):
            return None
        given = dialect.request.tools(body)
        if not isinstance(given, list) or not given or len(given) > _MOST_TOOLS:
            return None
        named = [_named_schema(each) for each in given]
        schemas = {name: schema for name, schema, _ in filter(None, named)}
        texts = {name: text for name, _, text in filter(None, named)}
        return cls(schemas, texts, is_closed=None not in named) if schemas else None

    @property
    def names(self) -> KeysView[str]:
        return self._schemas.keys()

    def schema(self, name: str) -> Any:
        """The schema of a function's parameters; None where it has none."""
        return self._schemas.get(name)

    def text(self, name: str) -> str:
        """What a function is for, as its description says; empty without one."""
        return self._texts.get(name, "")

    def required(self, name: str) -> frozenset[str]:
        """The parameters that a function requires."""
        return required_names(self._schemas.get(name))

    def demands_all(self, name: str) -> bool:
        """Whether the schema is in the strict form, in which every parameter is required."""
        schema = self._schemas.get(name)
        return isinstance(schema, Mapping) and requires_all(schema)

    def noting(self, read: Callable[[Event], None]) -> Callable[[Event], None]:
        """A reader of events that is shown calls with their fit."""

        def read_noted(event: Event) -> None:
            is_call = event.type == "tool.end" and event.layer == "semantic"
            read(self._noted(event) if is_call else event)

        return read_noted

    def _noted(self, event: Event) -> Event:
        fit = None if event.data.get("hosted") else self.fit(event.data)
        if fit is None:
            return event
        self.calls += 1
        self.fitting += fit.startswith("fits")
        data = {**event.data, "fit": fit}
        return Event(event.type, data, event.number, event.layer, event.answer)

    def fit(self, call: Mapping[str, Any]) -> str | None:
        """The words on one call; None where there is nothing to compare."""
        name, text = call.get("name"), call.get("arguments")
        if not isinstance(name, str) or not isinstance(text, str):
            return None
        if name not in self._schemas:
            is_name = self._is_closed and "<" not in name  # markers are another rule's business
            return f"unknown: no tool {name[:_LONGEST]} was offered" if is_name else None
        schema = self._schemas[name]
        if not isinstance(schema, Mapping):
            return "fits nothing"
        return _fit(name[:_LONGEST], text, schema)


def _fit(name: str, text: str, schema: Mapping[str, Any]) -> str | None:
    """The words on the arguments of one call."""
    required = required_keys(schema)
    if not text.strip():
        return f"nothing: {name} requires {', '.join(required)}" if required else "fits"
    value = decode_json(text)
    if value is NOT_JSON:
        return None
    if not isinstance(value, dict) and takes_object(schema):
        return f"nothing: {name} takes an object" if required else None
    found = misfit(value, schema)
    return f"unfit: {name}: {found}" if found else "fits"


def _named_schema(tool: Any) -> tuple[str, Any, str] | None:
    """Name, schema and description of a function; None for anything else, or without a name."""
    if not isinstance(tool, Mapping):
        return None
    function = tool.get("function")
    about = function if isinstance(function, Mapping) else tool
    name = about.get("name")
    if not isinstance(name, str) or tool.get("type", "function") not in ("function", "custom"):
        return None
    given = about.get("description")
    text = given if isinstance(given, str) else ""
    return name, next((about[key] for key in _SCHEMAS if key in about), None), text
