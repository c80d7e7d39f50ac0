"""Keywords of JSON Schema 2020-12: a validator ignores what it does not know, so we look.

A misspelt keyword would be a rule that holds for everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

# Keywords that hold schemas by name, schemas in a list, one schema, and plain values.
_BY_NAME: Final = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)
_LISTED: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SINGLE: Final = frozenset(
    {
        *("additionalProperties", "contains", "contentSchema", "else", "if", "items", "not"),
        *("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
    }
)
_PLAIN: Final = frozenset(
    {
        *("$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema"),
        *("const", "contentEncoding", "contentMediaType", "default", "dependentRequired"),
        *("deprecated", "description", "enum", "examples", "exclusiveMaximum"),
        *("exclusiveMinimum", "format", "maxContains", "maxItems", "maxLength"),
        *("maxProperties", "maximum", "minContains", "minItems", "minLength"),
        *("minProperties", "minimum", "multipleOf", "pattern", "readOnly", "required"),
        *("title", "type", "uniqueItems", "writeOnly"),
    }
)
KEYWORDS: Final = _BY_NAME | _LISTED | _SINGLE | _PLAIN


def unknown_keywords(schema: Any) -> Iterator[str]:
    """Every key in the place of a keyword that is none."""
    if not isinstance(schema, Mapping):
        return
    for key, below in schema.items():
        if key not in KEYWORDS:
            yield str(key)
        elif key in _BY_NAME and isinstance(below, Mapping):
            for each in below.values():
                yield from unknown_keywords(each)
        elif key in _LISTED and isinstance(below, list | tuple):
            for each in below:
                yield from unknown_keywords(each)
        elif key in _SINGLE:
            yield from unknown_keywords(below)
