"""The two spellings of a request: the API takes `thinkingConfig` and `thinking_config` alike.

Protocol buffers as JSON may have either name of a field. What users name themselves (arguments of
calls, results, schemas) is left as it is.
"""

from __future__ import annotations

import re
from typing import Any, Final

# What is under these keys is of the user.
_OWN: Final = frozenset({"args", "response", "parameters", "responseSchema", "labels"})
_DEEPEST: Final = 8  # contents, a content, its parts, a part, a call: no key of ours is deeper
_JOINT: Final = re.compile(r"(?<=[a-z0-9])_([a-z])")


def in_camel_case(value: Any, depth: int = 0) -> Any:
    """The value with keys in camel case; where a key has both spellings, the first one counts."""
    if depth > _DEEPEST:
        return value
    if isinstance(value, list):
        return [in_camel_case(each, depth + 1) for each in value]
    if not isinstance(value, dict):
        return value
    spelled: dict[str, Any] = {}
    for key, inner in value.items():
        name = _JOINT.sub(lambda found: found[1].upper(), key) if "_" in key else key
        is_own = name in _OWN or name.endswith("JsonSchema")
        spelled.setdefault(name, inner if is_own else in_camel_case(inner, depth + 1))
    return spelled
