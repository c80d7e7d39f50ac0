"""Checks values by the part of JSON Schema that describes tools.

Rule 1: unknown keywords count as fitting: a value fails only if the schema certainly forbids it.
Rule 2: depth and steps are bounded; past them a value fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

_DEEPEST: Final = 32
_MOST_STEPS: Final = 20_000
_MOST_KEYS: Final = 8  # that are reported
_LONGEST: Final = 60
_MOST_ALTERNATIVES: Final = 64  # of one place
_CHOICES: Final = ("allOf", "anyOf", "oneOf")
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_NAMES: Final = {
    dict: "an object",
    list: "an array",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}


class _Walk(Struct):
    """One comparison under way."""

    root: Mapping[str, Any]
    steps: int = 0


class ToolText(Struct, frozen=True):
    """What a schema says of one parameter: its type in one spelling, empty where it has several."""

    says: str = ""
    type: str = ""


class SchemaPlace(Struct, frozen=True):
    """What a schema says of one value inside: every schema that may describe it."""

    root: Mapping[str, Any]
    schemas: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, schema: Any) -> SchemaPlace:
        """Of the whole value; anything but an object says nothing."""
        root = schema if isinstance(schema, Mapping) else {}
        return cls(root, tuple(_alternatives(_Walk(root), (root,))))

    def knows(self, key: str) -> bool:
        """Whether such a key is described; every one is where no key is."""
        named = [each["properties"] for each in self.schemas if _describes_keys(each)]
        return not named or any(key in each for each in named)

    def under(self, key: str) -> SchemaPlace:
        """Of the value under a key."""
        found = (each["properties"].get(key) for each in self.schemas if _describes_keys(each))
        return SchemaPlace(self.root, tuple(_alternatives(_Walk(self.root), found)))

    @property
    def element(self) -> SchemaPlace:
        """Of an element of a list."""
        found = (each.get("items") for each in self.schemas)
        return SchemaPlace(self.root, tuple(_alternatives(_Walk(self.root), found)))


def _describes_keys(schema: Mapping[str, Any]) -> bool:
    known = schema.get("properties")
    return isinstance(known, Mapping) and bool(known)


def _alternatives(walk: _Walk, schemas: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Each schema without references, and those of which a value may or must fit one."""
    waiting = list(schemas)
    while waiting and walk.steps < _MOST_ALTERNATIVES:
        walk.steps += 1
        schema = _resolved(walk, waiting.pop(0))
        if schema is not None:
            yield schema
            waiting += [each for key in _CHOICES for each in _list_at(schema, key)]


def parameter_texts(schema: Any) -> dict[str, ToolText]:
    """The parameters of a function by name, as far as a plain schema describes them."""
    known = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(known, Mapping):
        return {}
    return {name: _text_of(each) for name, each in known.items() if isinstance(each, Mapping)}


def _text_of(schema: Mapping[str, Any]) -> ToolText:
    says, given = schema.get("description"), schema.get("type")
    names = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    own = [each.lower() for each in names if isinstance(each, str) and each.lower() != "null"]
    return ToolText(says if isinstance(says, str) else "", own[0] if len(own) == 1 else "")


def misfit(value: Any, schema: Mapping[str, Any]) -> str:
    """Where a value does not fit its schema, in words; empty where it does."""
    return _misfit(_Walk(schema), value, schema, (), 0)


def required_keys(schema: Mapping[str, Any]) -> Sequence[str]:
    """The first few keys that an object has to have."""
    given = schema.get("required")
    keys = given if isinstance(given, list) else []
    return [each[:_LONGEST] for each in keys if isinstance(each, str)][:_MOST_KEYS]


def required_names(schema: Any) -> frozenset[str]:
    """All keys that an object has to have, as they are."""
    given = schema.get("required") if isinstance(schema, Mapping) else None
    keys = given if isinstance(given, list) else []
    return frozenset(each for each in keys if isinstance(each, str))


def requires_all(schema: Mapping[str, Any]) -> bool:
    """Whether an object has every key that the schema knows, and no other."""
    known = schema.get("properties")
    is_closed = schema.get("additionalProperties") is False
    return is_closed and isinstance(known, Mapping) and required_names(schema) == known.keys()


def takes_object(schema: Mapping[str, Any]) -> bool:
    """Whether a schema is surely that of an object."""
    return _type_names(schema) == ("object",)


def _misfit(walk: _Walk, value: Any, given: Any, path: tuple[str, ...], depth: int) -> str:
    walk.steps += 1
    if depth > _DEEPEST or walk.steps > _MOST_STEPS:
        return ""
    schema = _resolved(walk, given)
    if schema is None or (value is None and schema.get("nullable") is True):
        return ""
    here = ".".join(path) or "the whole"
    if not _has_type(value, _type_names(schema)):
        return f"{here} is {_NAMES[type(value)]}, not {' or '.join(_type_names(schema))}"
    choices = schema.get("enum")
    if isinstance(choices, list) and choices and not any(_same(value, each) for each in choices):
        return f"{here} is none of its enum"
    if "const" in schema and not _same(value, schema["const"]):
        return f"{here} is not its constant"
    found = _misfit_of_parts(walk, value, schema, path, depth)
    return found or _misfit_of_choices(walk, value, schema, path, depth)


def _misfit_of_parts(
    walk: _Walk, value: Any, schema: Mapping[str, Any], path: tuple[str, ...], depth: int
) -> str:
    """The misfit inside an object or an array."""
    if isinstance(value, list):
        items = schema.get("items")
        inner = ((str(place), each, items) for place, each in enumerate(value))
    elif isinstance(value, dict):
        known = schema.get("properties")
        known = known if isinstance(known, Mapping) else {}
        if missing := [key for key in required_keys(schema) if key not in value]:
            return f"{'.'.join((*path, missing[0]))} is missing"
        strange = next((key for key in value if key not in known), None)
        if strange is not None and _is_closed(schema):
            return f"{'.'.join((*path, strange[:_LONGEST]))} is no key of the tool"
        inner = ((key[:_LONGEST], each, known.get(key)) for key, each in value.items())
    else:
        return ""
    for name, each, its in inner:
        if isinstance(its, Mapping) and (
            found := _misfit(walk, each, its, (*path, name), depth + 1)
        ):
            return found
    return ""


def _is_closed(schema: Mapping[str, Any]) -> bool:
    """Whether no key is allowed but those under `properties`."""
    elsewhere = ("patternProperties", *_CHOICES)
    is_closed = schema.get("additionalProperties") is False
    return is_closed and not any(key in schema for key in elsewhere)


def _misfit_of_choices(
    walk: _Walk, value: Any, schema: Mapping[str, Any], path: tuple[str, ...], depth: int
) -> str:
    """What of `allOf` does not fit; of `anyOf` and `oneOf` the first, where none does."""
    for each in _list_at(schema, "allOf"):
        if found := _misfit(walk, value, each, path, depth + 1):
            return found
    for key in ("anyOf", "oneOf"):
        tried = [_misfit(walk, value, each, path, depth + 1) for each in _list_at(schema, key)]
        if tried and all(tried):
            return tried[0]
    return ""


def _resolved(walk: _Walk, schema: Any) -> Mapping[str, Any] | None:
    """The schema, or what its local reference points at; None where that is not known."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, Mapping):
            return None
        reference = schema.get("$ref")
        if reference is None:
            return schema
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        schema = walk.root
        for part in filter(None, reference[1:].split("/")):
            name = part.replace("~1", "/").replace("~0", "~")
            schema = schema.get(name) if isinstance(schema, Mapping) else None
    return None


def _type_names(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The types that it allows, in small letters; none where it does not say, or in other words."""
    given = schema.get("type")
    names = given if isinstance(given, list) else [given]
    found = tuple(each.lower() for each in names if isinstance(each, str))
    return found if len(found) == len(names) and _TYPES.keys() >= set(found) else ()


def _has_type(value: Any, names: Sequence[str]) -> bool:
    return not names or any(_is_of(value, each) for each in names)


def _is_of(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


def _same(value: Any, other: Any) -> bool:
    return isinstance(value, bool) is isinstance(other, bool) and bool(value == other)


def _list_at(schema: Mapping[str, Any], key: str) -> list[Any]:
    given = schema.get(key)
    return given if isinstance(given, list) else []
