"""Request bodies: templates laid over each other, and `$names` replaced by values.

Rule 1: a template over another one replaces key by key, mappings within mappings; null takes a
        key away (RFC 7396, JSON Merge Patch).
Rule 2: a string that is `$name` as a whole stands for the value of that name, whatever its type;
        in a list a value that is a list takes the place of the string, element by element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.errors import UsageError

_NAME: Final = re.compile(r"\$[a-z][a-z0-9_]*")


def compose(template: Any, values: Mapping[str, Any]) -> Any:
    """The body with every name replaced. Raises UsageError for a name that has no value."""
    if isinstance(template, Mapping):
        return {key: compose(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [each for item in template for each in _spread_list(item, values)]
    if is_name(template):
        if template[1:] not in values:
            raise UsageError(f"nothing is known for {template}")
        return compose(values[template[1:]], {k: v for k, v in values.items() if k != template[1:]})
    return template


def lay_over(below: Any, patch: Any) -> Any:
    """The template with another one laid over it (rule 1)."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(below) if isinstance(below, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = lay_over(merged.get(key), value)
    return merged


def is_name(value: object) -> bool:
    """Whether a template's value stands for another one."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _spread_list(item: Any, values: Mapping[str, Any]) -> Iterator[Any]:
    value = compose(item, values)
    if is_name(item) and isinstance(value, list):
        yield from value
    else:
        yield value
