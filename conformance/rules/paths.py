"""Dotted paths into decoded JSON: `item.summary.*.text`, `choices.0.delta`.

A segment of digits indexes a list, `*` maps over one (elements without the rest are left out).
A value that is not there is MISSING, which is not null. Objects are dicts, as JSON decoders give
them: the test for any other mapping costs more than the look-up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final


class _MissingValue:
    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = _MissingValue()

Getter = Callable[[Any], Any]


@lru_cache(maxsize=4096)
def getter(path: str) -> Getter:
    """A function from a decoded value to the value at `path` in it, or MISSING."""
    segments = tuple(path.split("."))
    if len(segments) == 1 and segments[0] != "*":
        return _single_getter(segments[0])
    if len(segments) == 2 and not any(each == "*" or each.isdecimal() for each in segments):
        return _double_getter(*segments)
    if "*" not in segments:
        return _deep_getter(segments)
    return lambda value: _spread_values(value, segments)


def _single_getter(name: str) -> Getter:
    def get(value: Any) -> Any:
        try:  # nearly always it is an object, and nothing else that JSON knows has `get`
            return value.get(name, MISSING)
        except AttributeError:
            return MISSING

    return get


def _double_getter(outer: str, name: str) -> Getter:
    def get(value: Any) -> Any:
        inner = value.get(outer) if isinstance(value, dict) else None
        return inner.get(name, MISSING) if isinstance(inner, dict) else MISSING

    return get


def _deep_getter(segments: tuple[str, ...]) -> Getter:
    steps = tuple((each, int(each) if each.isdecimal() else None) for each in segments)

    def get(value: Any) -> Any:
        for name, index in steps:
            if isinstance(value, dict):
                value = value.get(name, MISSING)
            elif index is not None and isinstance(value, list) and index < len(value):
                value = value[index]
            else:
                return MISSING
        return value

    return get


def _descend_path(value: Any, segments: tuple[str, ...]) -> Any:
    for segment in segments:
        if isinstance(value, dict):
            value = value.get(segment, MISSING)
        elif isinstance(value, list) and segment.isdecimal() and int(segment) < len(value):
            value = value[int(segment)]
        else:
            return MISSING
        if value is MISSING:
            return MISSING
    return value


def _spread_values(value: Any, segments: tuple[str, ...]) -> Any:
    star = segments.index("*")
    inner = _descend_path(value, segments[:star])
    if not isinstance(inner, list):
        return MISSING
    rest = segments[star + 1 :]
    if not rest:
        return inner
    follow = _spread_values if "*" in rest else _descend_path
    found = [follow(element, rest) for element in inner]
    return [each for each in found if each is not MISSING]


def without(value: Any, masks: tuple[tuple[str, ...], ...]) -> Any:
    """A copy of `value` that lacks everything at the given (split) paths."""
    if not masks:
        return value
    if isinstance(value, list):
        inner = tuple(mask[1:] for mask in masks if mask[0] == "*" and len(mask) > 1)
        return [without(each, inner) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without(each, tuple(mask[1:] for mask in masks if mask[0] == key and len(mask) > 1))
        for key, each in value.items()
        if (key,) not in masks
    }
