"""Payloads of strangers: decoded with bounds, narrowed field by field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

MOST_DIGITS: Final = 18
# Deeper values could be read and then not be written again.
MOST_DEPTH: Final = 256


def decode(text: str) -> Any:
    """The JSON value of a text; None if it is none, nests too deep, or holds NaN."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return None if text.count("[") + text.count("{") > MOST_DEPTH and _is_deep(value) else value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [inner for each in level for inner in _values_inside(each)]
        if not level:
            return False
    return True


def _values_inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def compact(value: Any) -> str:
    """JSON without blanks, as models write arguments."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def text_of(value: Any) -> str:
    """The value if it is a string, else nothing."""
    return value if isinstance(value, str) else ""


def count_of(value: Any) -> int | None:
    """The value if it is a whole number from 0 that somebody may have counted to."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 10**MOST_DIGITS else None


def object_of(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects_of(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, whatever else is in it."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def arguments_text(value: Any) -> str:
    """Arguments as text; some servers send the object where its JSON is due."""
    return compact(value) if isinstance(value, dict) else text_of(value)


def added(counts: Mapping[str, Any], names: Iterable[str]) -> int | None:
    """The sum of the counts of these names; None where there is none."""
    known = [number for name in names if (number := count_of(counts.get(name))) is not None]
    return sum(known) if known else None
