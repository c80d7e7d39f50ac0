"""What breaks a JSON Schema, in words: the path, what was expected there, and the value.

jsonschema-rs names keywords ("is not valid under any of the schemas listed in the 'anyOf'
keyword"); a reader of a finding knows fields and types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.rules.paths import MISSING

_Words = Callable[[Mapping[str, Any], Callable[[Any], str]], str]

_MOST_SHOWN: Final = 6  # of several values or forms
TYPE_WORDS: Final[Mapping[str, str]] = {
    "string": "text",
    "object": "an object",
    "array": "a list",
    "boolean": "true or false",
    "null": "null",
    "number": "a number",
    "integer": "a whole number",
}


class SchemaFault(NamedTuple):
    """`place` is empty for the whole value; `value` is MISSING where a field is absent."""

    place: tuple[str | int, ...]
    wanted: str
    value: Any

    @property
    def path(self) -> str:
        """Keys and indices, joined by dots."""
        return ".".join(map(str, self.place))


def schema_fault(error: Any, show: Callable[[Any], str]) -> SchemaFault:
    """The fault that an error of jsonschema-rs describes; `show` writes values."""
    place = tuple(error.instance_path)
    if _fault_kind(error) == "Required":
        return SchemaFault((*place, error.kind.as_dict()["property"]), "a value", MISSING)
    return SchemaFault(place, _wanted_words(error, show), error.instance)


def _wanted_words(error: Any, show: Callable[[Any], str]) -> str:
    kind, facts = _fault_kind(error), error.kind.as_dict()
    if kind in ("AnyOf", "OneOfNotValid"):
        return _one_of_forms(error, show)
    if kind == "Not":
        return _anything_but(facts["schema"], show)
    make = _WANTED.get(kind)
    return make(facts, show) if make is not None else f"a value that fits ({error.message})"


def _one_of_forms(error: Any, show: Callable[[Any], str]) -> str:
    """What each form lacks; `at` names a place inside the value."""
    depth = len(error.instance_path)
    faults = [schema_fault(branch[0], show) for branch in error.kind.as_dict()["context"]]
    inside = [fault._replace(place=fault.place[depth:]) for fault in faults]
    forms = [f"{each.wanted} at {each.path}" if each.place else each.wanted for each in inside]
    return _either_words(list(dict.fromkeys(forms)))


def _anything_but(schema: Any, show: Callable[[Any], str]) -> str:
    excluded = dict(schema) if isinstance(schema, Mapping) else {}
    if excluded.keys() == {"const"}:
        return f"anything but {show(excluded['const'])}"
    if excluded.keys() == {"enum"}:
        return f"anything but {_either_words([show(each) for each in excluded['enum']])}"
    if excluded.keys() == {"type"} and isinstance(excluded["type"], str):
        return f"anything but {TYPE_WORDS[excluded['type']]}"
    return "a value that the rule does not exclude"


def _type_words(facts: Mapping[str, Any], _show: Callable[[Any], str]) -> str:
    # In an order of our own: that of jsonschema-rs changes from version to version.
    types = sorted(facts["types"], key=lambda name: (name == "null", name))
    return _either_words([TYPE_WORDS[each] for each in types])


def _enum_words(facts: Mapping[str, Any], show: Callable[[Any], str]) -> str:
    return _either_words([show(each) for each in facts["options"]])


def _bound_words(words: str, unit: str) -> _Words:
    def bounded(facts: Mapping[str, Any], _show: Callable[[Any], str]) -> str:
        return f"{words} {facts['limit']} {unit}{'' if facts['limit'] == 1 else 's'}"

    return bounded


def _unknown_keys(facts: Mapping[str, Any], show: Callable[[Any], str]) -> str:
    return f"no key {_either_words([show(each) for each in facts['unexpected']])}"


_WANTED: Final[Mapping[str, _Words]] = {
    "Type": _type_words,
    "Enum": _enum_words,
    "Constant": lambda facts, show: show(facts["expected_value"]),
    "Pattern": lambda facts, show: f"text that matches {show(facts['pattern'])}",
    "Minimum": lambda facts, _: f"{facts['limit']} or more",
    "Maximum": lambda facts, _: f"{facts['limit']} or less",
    "ExclusiveMinimum": lambda facts, _: f"more than {facts['limit']}",
    "ExclusiveMaximum": lambda facts, _: f"less than {facts['limit']}",
    "MinLength": _bound_words("at least", "character"),
    "MaxLength": _bound_words("at most", "character"),
    "MinItems": _bound_words("at least", "element"),
    "MaxItems": _bound_words("at most", "element"),
    "MinProperties": _bound_words("at least", "key"),
    "MaxProperties": _bound_words("at most", "key"),
    "FalseSchema": lambda _facts, _show: "nothing",
    "UniqueItems": lambda _facts, _show: "elements that differ",
    "AdditionalProperties": _unknown_keys,
    "UnevaluatedProperties": _unknown_keys,
}


def _either_words(words: Sequence[str]) -> str:
    """`a, b or c`; of many, the first ones and how many follow."""
    if len(words) > _MOST_SHOWN:
        return f"{', '.join(words[:_MOST_SHOWN])} or one of {len(words) - _MOST_SHOWN} others"
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _fault_kind(error: Any) -> str:
    return type(error.kind).__name__
