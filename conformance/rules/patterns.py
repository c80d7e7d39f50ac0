"""Value patterns and event patterns, compiled to closures for one profile.

A value pattern is a constant, a list (one of), a JSON Schema, `{field: path}` (equal to another
field of the same event), `{sum: [path, ...]}` (the sum of several of them), `{above: ...}` (a
greater number), `{not: ...}` or `{absent: true}`.
`$knob` is a profile's value, `$request.path` a value of the request, `$user_choices.path` a choice
of the client's user; `$$x` is the text `$x`.

Rule 1: only `absent` and `not` hold for a missing value; null is not missing.
Rule 2: `not` is plain negation. If another rule covers absence, write
`{not: [value, {absent: true}]}`.
Rule 3: regular expressions run in linear time (JSON Schema through jsonschema-rs with the
regex crate); a file with an expression beyond that engine is refused when loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final, Protocol

import jsonschema_rs

from conformance.rules.keywords import KEYWORDS, unknown_keywords
from conformance.rules.node import nearest
from conformance.rules.paths import MISSING, getter
from conformance.rules.schemas import compile_simple
from conformance.rules.sharing import MOST_SHARED, shared

SPECIAL: Final = frozenset({"field", "sum", "above", "not", "absent"})
REQUEST: Final = "request."
CHOICES: Final = "user_choices."
"""Prefix of a reference to what a client's user chose."""


class RequestValues(Protocol):
    """Where `$request.path` and `$user_choices.path` are looked up."""

    def requested(self, path: str) -> Any:
        """The value at `path` of the request, or of the response's echo of it, or MISSING."""

    def chosen(self, path: str) -> Any:
        """The value at `path` of what the user of a client chose, or MISSING."""

    def spelled(self, text: str) -> bool:
        """Whether the request contains a text, outside of earlier answers of the model."""


class _NoRequest:
    """Knows neither a request nor a user: patterns that refer to one do not hold."""

    def requested(self, path: str) -> Any:
        del path
        return MISSING

    def chosen(self, path: str) -> Any:
        del path
        return MISSING

    def spelled(self, text: str) -> bool:
        del text
        return False


NO_REQUEST: Final = _NoRequest()

Test = Callable[[Any, Mapping[str, Any], RequestValues], bool]


class PatternError(ValueError):
    """A value pattern makes no sense; the message says why."""


def same(left: Any, right: Any) -> bool:
    """JSON equality: 1 equals 1.0, but true is not a number."""
    if left.__class__ is str:  # as nearly always
        return bool(left == right)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def token(value: Any) -> str:
    """A text that two values share exactly if they are the `same`."""
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = (f"{key!r}:{token(value[key])}" for key in sorted(value))
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(token, value))}]"
    if isinstance(value, float) and value.is_integer():
        return repr(int(value))
    return repr(value)


@shared
def compile_value(pattern: Any, knobs: Mapping[str, Any]) -> Test:
    if isinstance(pattern, str) and pattern.startswith("$"):
        return _reference_test(pattern, knobs)
    if isinstance(pattern, list | tuple):
        return _one_of(tuple(compile_value(each, knobs) for each in pattern))
    if isinstance(pattern, Mapping):
        return _map_test(pattern, knobs)
    return _constant_test(pattern)


def _one_of(tests: tuple[Test, ...]) -> Test:
    def holds(value: Any, data: Mapping[str, Any], evidence: RequestValues) -> bool:
        for test in tests:  # noqa: SIM110  # a generator takes longer than most tests
            if test(value, data, evidence):
                return True
        return False

    return holds


def _constant_test(wanted: Any) -> Test:
    if wanted is None:
        return lambda value, _data, _evidence: value is None
    if isinstance(wanted, str):
        return lambda value, _data, _evidence: value == wanted
    return lambda value, _data, _evidence: value is not MISSING and same(value, wanted)


def _reference_test(text: str, knobs: Mapping[str, Any]) -> Test:
    if text.startswith("$$"):
        return _constant_test(text[1:])
    if is_of_exchange(text):
        look = _looked_up(text)
        return lambda value, _data, evidence: value is not MISSING and same(value, look(evidence))
    return compile_value(knob(text, knobs), {})


def is_of_exchange(text: str) -> bool:
    """Whether a `$name` refers to the exchange rather than to a knob."""
    return text.removeprefix("$").startswith((REQUEST, CHOICES))


def _looked_up(text: str) -> Callable[[RequestValues], Any]:
    name = text.removeprefix("$")
    if name.startswith(CHOICES):
        path = name.partition(".")[2]
        return lambda evidence: evidence.chosen(path)
    path = name.removeprefix(REQUEST)
    return lambda evidence: evidence.requested(path)


def knob(text: str, knobs: Mapping[str, Any]) -> Any:
    """The profile's value for `$name`."""
    name = text.removeprefix("$")
    if name not in knobs:
        raise PatternError(f"no knob {name!r} in this dialect's profiles")
    return knobs[name]


def constant(value: Any, knobs: Mapping[str, Any]) -> Any:
    """A constant, or the profile's value where `$knob` stands."""
    return knob(value, knobs) if isinstance(value, str) and value.startswith("$") else value


def texts(value: Any, knobs: Mapping[str, Any]) -> tuple[str, ...]:
    """A list of texts, given as such or as `$knob`; lists inside the list are flattened."""
    value = constant(value, knobs)
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple):
        raise PatternError(f"expected texts, got {value!r}")
    return tuple(text for each in value for text in texts(each, knobs))


def _map_test(pattern: Mapping[str, Any], knobs: Mapping[str, Any]) -> Test:
    if len(pattern) == 1 and next(iter(pattern)) in SPECIAL:
        ((key, inner),) = pattern.items()
        return _SPECIALS[key](inner, knobs)
    if mixed := sorted((SPECIAL - {"not"}) & pattern.keys()):
        raise PatternError(f"{mixed[0]} must be the only key of its map")
    is_valid = schema_test(pattern, knobs).is_valid
    return lambda value, _data, _evidence: value is not MISSING and is_valid(value)


def _field_test(path: Any, _knobs: Mapping[str, Any]) -> Test:
    if not isinstance(path, str):
        raise PatternError("field takes a path")
    get = getter(path)
    return lambda value, data, _evidence: value is not MISSING and same(value, get(data))


def _sum_test(paths: Any, _knobs: Mapping[str, Any]) -> Test:
    if not isinstance(paths, list | tuple) or not all(isinstance(each, str) for each in paths):
        raise PatternError("sum takes a list of paths")
    getters = tuple(map(getter, paths))

    def is_sum(value: Any, data: Mapping[str, Any], _evidence: RequestValues) -> bool:
        found = (get(data) for get in getters)
        return is_number(value) and bool(value == sum(each for each in found if is_number(each)))

    return is_sum


def _above_test(bound: Any, knobs: Mapping[str, Any]) -> Test:
    if isinstance(bound, str) and is_of_exchange(bound):
        look = _looked_up(bound)
        return lambda value, _data, evidence: _is_greater(value, look(evidence))
    if isinstance(bound, str) and bound.startswith("$"):
        bound = knob(bound, knobs)
    if isinstance(bound, Mapping) and set(bound) == {"field"}:
        get = getter(str(bound["field"]))
        return lambda value, data, _evidence: _is_greater(value, get(data))
    if not is_number(bound):
        raise PatternError("above takes a number or {field: path}")
    return lambda value, _data, _evidence: _is_greater(value, bound)


def is_number(value: Any) -> bool:
    """A JSON number: true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_greater(value: Any, bound: Any) -> bool:
    return is_number(value) and is_number(bound) and bool(value > bound)


def _not_test(inner: Any, knobs: Mapping[str, Any]) -> Test:
    test = compile_value(inner, knobs)
    return lambda value, data, evidence: not test(value, data, evidence)


def _absent_test(wanted: Any, _knobs: Mapping[str, Any]) -> Test:
    if not isinstance(wanted, bool):
        raise PatternError("absent takes true or false")
    return lambda value, _data, _evidence: (value is MISSING) is wanted


_SPECIALS: Final[Mapping[str, Callable[[Any, Mapping[str, Any]], Test]]] = {
    "field": _field_test,
    "sum": _sum_test,
    "above": _above_test,
    "not": _not_test,
    "absent": _absent_test,
}


class SchemaTest:
    """A compiled JSON Schema. Simple schemas need no general validator."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema  # with knobs filled in
        self.is_valid: Callable[[Any], bool] = compile_simple(schema) or self._validator.is_valid

    @cached_property
    def _validator(self) -> Any:
        return _validator(self.schema)

    def first_error(self, value: Any) -> Any:
        """The error of jsonschema-rs for an invalid value."""
        return next(iter(self._validator.iter_errors(value)))


@shared
def schema_test(schema: Any, knobs: Mapping[str, Any]) -> SchemaTest:
    """A JSON Schema (2020-12), knobs filled in; no remote references, no unknown keywords."""
    for key in unknown_keywords(schema):
        near = nearest(key, KEYWORDS)
        raise PatternError(f"no JSON Schema has the keyword {key[:60]!r}{near and f'; {near}'}")
    return SchemaTest(_filled_schema(schema, knobs))


@lru_cache(maxsize=MOST_SHARED)
def regex(pattern: str) -> Callable[[str], bool]:
    """A search in linear time for `pattern`; PatternError where the engine cannot express it."""
    try:
        validator = _validator({"pattern": pattern})
    except PatternError as err:
        message = f"{pattern[:60]!r} is no regular expression that runs in linear time"
        raise PatternError(f"{message}: no look-around, no back-references") from err
    return lambda text: bool(validator.is_valid(text))


def _validator(schema: Any) -> Any:
    try:
        return jsonschema_rs.Draft202012Validator(
            schema, pattern_options=jsonschema_rs.RegexOptions(), retriever=_refuse_reference
        )
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as err:
        raise PatternError(f"no JSON Schema: {str(err).splitlines()[0]}") from err


def _refuse_reference(uri: str) -> Any:
    raise ValueError(f"schemas are not fetched: {uri}")


def _filled_schema(schema: Any, knobs: Mapping[str, Any]) -> Any:
    if isinstance(schema, Mapping):
        for key in ("$ref", "$schema", "$id", "$dynamicRef"):
            if not str(schema.get(key, "#")).startswith("#"):
                raise PatternError(f"{key} may only point inside the schema")
        return {key: _filled_schema(each, knobs) for key, each in schema.items()}
    if isinstance(schema, list | tuple):
        return [_filled_schema(each, knobs) for each in schema]
    if isinstance(schema, str) and is_of_exchange(schema):
        raise PatternError(f"{schema.partition('.')[0]} cannot be used inside a JSON Schema")
    if isinstance(schema, str) and schema.startswith("$$"):
        return schema[1:]
    if isinstance(schema, str) and schema.startswith("$"):
        return knob(schema, knobs)
    return schema


def references(pattern: Any) -> frozenset[str]:
    """Every `$name` in a pattern, without the dollar."""
    if isinstance(pattern, str):
        single = pattern.startswith("$") and not pattern.startswith("$$")
        return frozenset({pattern[1:]}) if single else frozenset()
    if isinstance(pattern, Mapping):
        return frozenset().union(*(references(each) for each in pattern.values()))
    if isinstance(pattern, list | tuple):
        return frozenset().union(*(references(each) for each in pattern))
    return frozenset()


def fields_named(pattern: Any) -> tuple[str, ...]:
    """Paths of other fields that a pattern compares with."""
    if isinstance(pattern, Mapping):
        if set(pattern) == {"field"}:
            return (str(pattern["field"]),)
        if set(pattern) == {"sum"}:
            return tuple(map(str, pattern["sum"]))
        return tuple(path for each in pattern.values() for path in fields_named(each))
    if isinstance(pattern, list | tuple):
        return tuple(path for each in pattern for path in fields_named(each))
    return ()


def looks_elsewhere(pattern: Any) -> bool:
    """Whether it compares with another field of the event, or with the exchange."""
    return bool(fields_named(pattern)) or any(map(is_of_exchange, references(pattern)))


_SHALLOW: Final[Mapping[str, tuple[int, ...]]] = {
    **dict.fromkeys(("minLength", "minItems", "minProperties"), (0, 1)),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties"), (0,)),
}
"""Keywords that ask of a text, list or mapping only whether it is empty, with these arguments."""


def is_shallow(pattern: Any) -> bool:
    """Whether it asks of lists and mappings only their type and whether they are empty.

    Of texts, too, beyond those that it spells (`texts_spelled`).
    """
    if isinstance(pattern, str):
        return not pattern.startswith("$")
    if isinstance(pattern, list | tuple):
        return all(map(is_shallow, pattern))
    if not isinstance(pattern, Mapping):
        return True
    if set(pattern) == {"not"}:
        return is_shallow(pattern["not"])
    return all(
        key in ("absent", "type") or value in _SHALLOW.get(key, ())
        for key, value in pattern.items()
    )


def texts_spelled(pattern: Any) -> tuple[str, ...]:
    """The texts that a shallow pattern compares with."""
    if isinstance(pattern, str):
        return (pattern,)
    if isinstance(pattern, list | tuple):
        return tuple(text for each in pattern for text in texts_spelled(each))
    if isinstance(pattern, Mapping) and set(pattern) == {"not"}:
        return texts_spelled(pattern["not"])
    return ()


def probe(
    pattern: Any, compiler: Callable[[Any, Mapping[str, Any]], object] = compile_value
) -> None:
    """Raise PatternError where a pattern compiles with no value of its knobs.

    Knobs differ by profile and are not known when a file is loaded: a number, a text and a list
    are tried in their place.
    """
    failures: list[PatternError] = []
    names = references(pattern)
    for stand_in in (0, "knob", ["knob"]):
        try:
            compiler(pattern, dict.fromkeys(names, stand_in))
        except PatternError as err:
            failures.append(err)
        else:
            return
    raise failures[0]
