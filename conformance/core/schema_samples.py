"""A value that fits a JSON Schema, made by its keywords; nothing is tried at random.

Schemas come from strangers: references lead inside the schema only, and depth and size are bounded.
What a keyword says that is not looked at here (a pattern, a format) the value may violate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.json_values import value_at

_DEEPEST: Final = 12
_MOST: Final = 64  # properties of an object, elements of an array
_MOST_VALUES: Final = 1024
_LONGEST: Final = 1024  # characters of a string
_CHOICES: Final = ("anyOf", "oneOf")
_FORMATS: Final[Mapping[str, str]] = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "time": "00:00:00Z",
    "uri": "https://example.com/",
    "email": "someone@example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def sample_of(schema: Any, text: str) -> Any:
    """A value that fits; its strings are `text` where nothing forbids it."""
    return _Sampler(schema, text).sample(schema, 0)


class _Sampler:
    """Makes one value; past `_MOST_VALUES` parts, the remaining ones are empty."""

    def __init__(self, root: Any, text: str) -> None:
        self._root = root
        self._text = text
        self._left = _MOST_VALUES

    def sample(self, schema: Any, depth: int) -> Any:
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > _DEEPEST or self._left < 0:
            return {} if depth == 0 else self._text
        schema = _resolved(schema, self._root)
        for key in ("const", "default"):
            if key in schema:
                return schema[key]
        enum = schema.get("enum")
        if isinstance(enum, list) and enum:
            return enum[0]
        for key in _CHOICES:
            if isinstance(each := schema.get(key), list) and each:
                return self.sample(_chosen(each), depth + 1)
        return self._typed_sample(schema, depth)

    def _typed_sample(self, schema: Mapping[str, Any], depth: int) -> Any:
        match _type_of(schema):
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "integer" | "number" as kind:
                return _number(schema, kind)
            case "boolean":
                return True
            case "null":
                return None
        return _string(schema, self._text)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        required = schema.get("required")
        listed = required if isinstance(required, list) else []
        needed = [name for name in listed if isinstance(name, str)]
        stated = _properties(schema)
        # Deep down optional fields are left out: a schema may contain itself.
        names = dict.fromkeys([*needed, *(stated if depth < _DEEPEST // 2 else ())])
        return {
            name: self.sample(stated.get(name, {"type": "string"}), depth + 1)
            for name in list(names)[:_MOST]
            if self._left > 0
        }

    def _array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        least = _whole(schema.get("minItems"))
        count = least if depth >= _DEEPEST // 2 else max(least, 1)
        if schema.get("maxItems") == 0:
            return []
        each = schema.get("items", {"type": "string"})
        numbers = range(min(count, _MOST))
        return [self.sample(each, depth + 1) for _ in numbers if self._left > 0]


def _resolved(schema: Mapping[str, Any], root: Any) -> Mapping[str, Any]:
    """The schema with its reference followed, and what all of `allOf` say joined."""
    for _ in range(_DEEPEST):
        ref = schema.get("$ref")
        if not isinstance(ref, str) or not ref.startswith("#"):
            break
        steps = [s.replace("~1", "/").replace("~0", "~") for s in ref[1:].split("/") if s]
        found = value_at(root, *steps)
        if not isinstance(found, Mapping):
            break
        schema = {**found, **{key: value for key, value in schema.items() if key != "$ref"}}
    every = schema.get("allOf")
    for each in every if isinstance(every, list) else ():
        part = _resolved(each, root) if isinstance(each, Mapping) else {}
        schema = {**schema, **part, "properties": {**_properties(schema), **_properties(part)}}
    return schema


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    stated = schema.get("properties")
    return stated if isinstance(stated, Mapping) else {}


def _chosen(choices: list[Any]) -> Any:
    """The first of several schemas that is not null alone."""
    return next((c for c in choices if not isinstance(c, Mapping) or _type_of(c) != "null"), None)


def _type_of(schema: Mapping[str, Any]) -> str:
    """The first type that is not null, in small letters: one API writes them large."""
    stated = schema.get("type")
    kinds = stated if isinstance(stated, list) else [stated]
    named = [kind.lower() for kind in kinds if isinstance(kind, str)]
    found = next((kind for kind in named if kind != "null"), "null" if named else "")
    if not found:
        found = "object" if "properties" in schema else "array" if "items" in schema else ""
    # A schema that says nothing is answered by an object, as JSON mode is.
    return found or ("string" if schema.keys() - {"description", "title"} else "object")


def _number(schema: Mapping[str, Any], kind: str) -> float:
    low, high = schema.get("minimum"), schema.get("maximum")
    above = schema.get("exclusiveMinimum")
    value: float = 1
    if isinstance(low, int | float):
        value = max(value, low)
    if isinstance(above, int | float):
        value = max(value, above + 1)
    if isinstance(high, int | float):
        value = min(value, high)
    step = schema.get("multipleOf")
    if isinstance(step, int) and step > 0:
        value = -(-value // step) * step
    return int(value) if kind == "integer" else value


def _string(schema: Mapping[str, Any], text: str) -> str:
    least, most = _whole(schema.get("minLength")), schema.get("maxLength")
    value = _FORMATS.get(str(schema.get("format")), text)
    value = value.ljust(min(least, _LONGEST), ".")
    return value[:most] if isinstance(most, int) and most >= 0 else value


def _whole(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0
