"""JSON Schemas compiled to plain Python if they are simple, as most schemas in rules are.

For a value of a few fields this is ten times as fast as a general validator, which first copies
the value. A schema with keywords outside `_KEYWORDS` is not simple and goes to the validator, which
also writes the messages for invalid values. A property test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.rules.paths import MISSING

Check = Callable[[Any], bool]

_NUMBERS: Final = (int, float)


def compile_simple(schema: Any) -> Check | None:
    """Whether a decoded JSON value satisfies the schema; None where the schema is not simple."""
    if isinstance(schema, bool):
        return lambda _value: schema
    if not isinstance(schema, Mapping):
        return None
    checks: list[Check] = []
    for keyword, argument in schema.items():
        if keyword == "required" and "properties" in schema:
            continue  # looked at with the properties
        if keyword == "properties":
            check = _check_properties(argument, schema.get("required", ()))
            if check is None:
                return None
            checks.append(check)
            continue
        make = _KEYWORDS.get(keyword)
        check = make(argument) if make is not None else None
        if check is None:
            return None
        checks.append(check)
    return _all_of(checks)


def _all_of(checks: list[Check]) -> Check:
    if len(checks) == 1:
        return checks[0]
    if len(checks) == 2:
        first, second = checks
        return lambda value: first(value) and second(value)

    def check(value: Any) -> bool:
        for each in checks:  # noqa: SIM110  # a generator costs more than the checks
            if not each(value):
                return False
        return True

    return check


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


_PLAIN_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "object": (dict,),
    "array": (list,),
    "boolean": (bool,),
    "null": (type(None),),
    "number": (int, float),
    "integer": (int,),
}
_TYPES: Final[Mapping[str, Check]] = {
    "string": lambda value: isinstance(value, str),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": _is_integer,
}


def _check_type(argument: Any) -> Check | None:
    if isinstance(argument, str):
        return _TYPES.get(argument)
    if not isinstance(argument, list | tuple) or not argument:
        return None
    tests = [_TYPES.get(each) if isinstance(each, str) else None for each in argument]
    known = [test for test in tests if test is not None]
    if len(known) < len(tests) or len(set(argument)) < len(tests):
        return None
    return lambda value: any(test(value) for test in known)


def _check_const(argument: Any) -> Check | None:
    if isinstance(argument, str):
        return lambda value: isinstance(value, str) and value == argument
    if argument is None or isinstance(argument, bool):
        return lambda value: value is argument
    return None


def _check_enum(argument: Any) -> Check | None:
    if not isinstance(argument, list | tuple) or not all(isinstance(e, str) for e in argument):
        return None
    names = frozenset(argument)
    return (lambda value: isinstance(value, str) and value in names) if names else None


def _check_required(argument: Any) -> Check | None:
    if not isinstance(argument, list | tuple) or not all(isinstance(e, str) for e in argument):
        return None
    names = frozenset(argument)
    if len(names) < len(argument):
        return None
    return lambda value: not isinstance(value, dict) or names <= value.keys()


def _check_properties(argument: Any, required: Any) -> Check | None:
    """Both keywords at once; most schemas only state the types of some fields."""
    if not isinstance(argument, Mapping) or _check_required(required) is None:
        return None
    fields: list[tuple[str, bool, frozenset[type] | None, Check]] = []
    for name in dict.fromkeys((*argument, *required)):
        schema = argument.get(name, True)
        check = compile_simple(schema)
        if check is None:
            return None
        fields.append((str(name), name in required, _plain_types(schema), check))

    def check_fields(value: Any) -> bool:
        if isinstance(value, dict):
            for name, is_required, types, check in fields:
                inner = value.get(name, MISSING)
                if inner is MISSING:
                    if is_required:
                        return False
                elif (types is None or inner.__class__ not in types) and not check(inner):
                    return False
        return True

    return check_fields


def _plain_types(schema: Any) -> frozenset[type] | None:
    """Types whose values all satisfy a schema that speaks of types alone."""
    if not isinstance(schema, Mapping) or set(schema) != {"type"}:
        return None
    names = (schema["type"],) if isinstance(schema["type"], str) else schema["type"]
    return frozenset(kind for name in names for kind in _PLAIN_TYPES[name])


def _check_items(argument: Any) -> Check | None:
    check = compile_simple(argument)
    if check is None:
        return None
    return lambda value: not isinstance(value, list) or all(map(check, value))


def _check_size(
    kind: type[str | list[Any] | dict[str, Any]], *, least: bool
) -> Callable[[Any], Check | None]:
    def make(argument: Any) -> Check | None:
        if isinstance(argument, bool) or not isinstance(argument, int) or argument < 0:
            return None
        if least:
            return lambda value: not isinstance(value, kind) or len(value) >= argument
        return lambda value: not isinstance(value, kind) or len(value) <= argument

    return make


def _check_minimum(argument: Any) -> Check | None:
    if not isinstance(argument, int) or isinstance(argument, bool):
        return None
    return lambda value: not _is_number(value) or value >= argument


def _exclusive_maximum(argument: Any) -> Check | None:
    if not isinstance(argument, int) or isinstance(argument, bool):
        return None
    return lambda value: not _is_number(value) or value < argument


def _check_not(argument: Any) -> Check | None:
    check = compile_simple(argument)
    return None if check is None else lambda value: not check(value)


def _check_any(argument: Any) -> Check | None:
    if not isinstance(argument, list) or not argument:
        return None
    checks = [check for check in map(compile_simple, argument) if check is not None]
    if len(checks) < len(argument):
        return None
    return lambda value: any(check(value) for check in checks)


_KEYWORDS: Final[Mapping[str, Callable[[Any], Check | None]]] = {
    "type": _check_type,
    "const": _check_const,
    "enum": _check_enum,
    "required": _check_required,
    "items": _check_items,
    "not": _check_not,
    "anyOf": _check_any,
    "minimum": _check_minimum,
    "exclusiveMaximum": _exclusive_maximum,
    "minLength": _check_size(str, least=True),
    "maxLength": _check_size(str, least=False),
    "minItems": _check_size(list, least=True),
    "maxItems": _check_size(list, least=False),
    "minProperties": _check_size(dict, least=True),
    "maxProperties": _check_size(dict, least=False),
}
