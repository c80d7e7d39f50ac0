"""Stands in for jsonschema-rs in a browser, where that has no build: the same names, in Python.

Rule 1: only in the browser, and only for streams that a reader pastes there. Regular expressions
run in the engine of Python, so the time they take is not bounded as it is elsewhere.
Rule 2: verdicts are the same for all that ships, which tests hold; the words of an error differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema

# The end of the text alone: `$` of Python also stands before a last line feed.
_LONE = ({"pattern"}, {"pattern", "type"})
_END = re.compile(r"(?<!\\)((?:\\\\)*)\$")
_OF_BYTES = "(?-u:"  # in ASCII alone, which Python writes otherwise


class ValidationError(ValueError):
    """A schema that is none."""


class ReferencingError(ValueError):
    """What jsonschema-rs raises of a reference; never raised here."""


class RegexOptions:
    """Chooses the engine of linear time, which is not to be had here."""


class ErrorKind:
    """What kind of error it is, by the name of its class, and what belongs to it."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self._facts = facts

    def as_dict(self) -> dict[str, Any]:
        return self._facts


class SchemaError:
    """One reason why a value is not valid."""

    def __init__(self, error: Any) -> None:
        self.message = error.message
        self.instance = error.instance
        self.instance_path = list(error.absolute_path)
        self.schema_path = list(error.absolute_schema_path)
        self.kind = _kind_of(error)


class Validator:
    """A JSON Schema (2020-12), or one pattern alone, which is most of them."""

    def __init__(self, schema: Any) -> None:
        own = _as_python(schema)
        try:
            jsonschema.Draft202012Validator.check_schema(own)
            is_lone = isinstance(own, dict) and own.keys() in _LONE
            self._search = re.compile(own["pattern"]).search if is_lone else None
        except (jsonschema.SchemaError, re.error) as error:
            raise ValidationError(str(error)) from error
        self._whole = jsonschema.Draft202012Validator(own)
        self._is_text_only = is_lone and own.get("type") == "string"

    def is_valid(self, value: Any) -> bool:
        """Whether a decoded value is valid."""
        if self._search is None:
            return bool(self._whole.is_valid(value))
        if not isinstance(value, str):
            return not self._is_text_only
        return self._search(value) is not None

    def iter_errors(self, value: Any) -> Iterator[SchemaError]:
        """Every reason why a value is not valid."""
        return map(SchemaError, self._whole.iter_errors(value))


def validator_for(
    schema: Any, pattern_options: object = None, retriever: object = None
) -> Validator:
    """A validator; the last two are those of jsonschema-rs, and count for nothing here."""
    del pattern_options, retriever
    return Validator(schema)


Draft202012Validator = validator_for

# Keyword -> the name of the kind, and of the fact that the keyword's argument is.
_KINDS = {
    "const": ("Constant", "expected_value"),
    "enum": ("Enum", "options"),
    "pattern": ("Pattern", "pattern"),
    "not": ("Not", "schema"),
    **{
        name: (name[0].upper() + name[1:], "limit")
        for name in (
            *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
            *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
        )
    },
}


def _kind_of(error: Any) -> Any:
    name = "FalseSchema"
    facts: dict[str, Any] = {}
    if error.validator in ("anyOf", "oneOf") and error.context:
        name = "AnyOf" if error.validator == "anyOf" else "OneOfNotValid"
        facts = {"context": _branches(error)}
    elif error.validator == "required":
        lacking = (each for each in error.validator_value if each not in error.instance)
        of_message = (each for each in lacking if error.message.startswith(repr(each)))
        name, facts = "Required", {"property": next(of_message, "")}
    elif error.validator == "type":
        types = error.validator_value
        name, facts = "Type", {"types": [types] if isinstance(types, str) else list(types)}
    elif error.validator in _KINDS:
        name, fact = _KINDS[error.validator]
        facts = {fact: error.validator_value}
    elif error.validator is not None:
        name = str(error.validator)
    return type(name, (ErrorKind,), {})(facts)


def _branches(error: Any) -> list[list[SchemaError]]:
    """The errors of each alternative."""
    found: dict[Any, list[SchemaError]] = {}
    for each in error.context:
        found.setdefault(each.relative_schema_path[0], []).append(SchemaError(each))
    return list(found.values())


def _as_python(schema: Any) -> Any:
    """A schema whose patterns mean in Python what they mean to the regex crate."""
    if isinstance(schema, dict):
        return {
            key: _END.sub(r"\1\\Z", each.replace(_OF_BYTES, "(?a:"))
            if key == "pattern" and isinstance(each, str)
            else _as_python(each)
            for key, each in schema.items()
        }
    return [_as_python(each) for each in schema] if isinstance(schema, list) else schema
