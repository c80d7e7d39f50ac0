"""The JSON edge: hostile payload values, narrowed to what a reader can rely on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

NO_FIELDS: Final[dict[str, Any]] = {}  # shared: callers only read it


def string(value: Any) -> str:
    """The value if it is a string, else the empty one; null and empty strings mean nothing."""
    return value if isinstance(value, str) else ""


def whole(value: Any) -> int | None:
    """The value if it is a whole number that is not negative (a boolean is none), else None."""
    return value if type(value) is int and value >= 0 else None


def whole_counts(value: Any, keys: Mapping[str, str]) -> dict[str, int | None]:
    """Name -> the whole number under its key, None where there is none; `keys` by name."""
    fields = mapping(value)
    return {name: whole(fields.get(key)) for name, key in keys.items()}


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one, to be read only."""
    return value if isinstance(value, dict) else NO_FIELDS


def elements(value: Any) -> list[Any]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in the value if it is an array; other elements are left out."""
    return [element for element in elements(value) if isinstance(element, dict)]


def event_data(value: Any, **more: Any) -> dict[str, Any]:
    """Data of a wire event: the object's fields and `more`; any other value under `value`.

    An object with nothing more is its own data: events are only read.
    """
    if isinstance(value, dict):
        return {**value, **more} if more else value
    return {"value": value, **more}


def arguments_text(value: Any) -> str:
    """Tool arguments as text; some servers send the object itself where its JSON is due."""
    if isinstance(value, dict):
        return msgspec.json.encode(value).decode()
    return string(value)
