"""Attributes of OpenTelemetry as plain values: a map as it stands, or OTLP's list of pairs."""

from __future__ import annotations

from typing import Any, Final

_DEEPEST: Final = 64


def plain_attributes(value: Any) -> dict[str, Any]:
    """The attributes by their names; none where there are none."""
    if isinstance(value, dict):
        return value
    return _pairs(value, 0)


def _pairs(value: Any, depth: int) -> dict[str, Any]:
    if not isinstance(value, list) or depth > _DEEPEST:
        return {}
    return {
        each["key"]: _plain_value(each.get("value"), depth)
        for each in value
        if isinstance(each, dict) and isinstance(each.get("key"), str)
    }


def _plain_value(value: Any, depth: int) -> Any:
    """The value that one of OTLP's stands for; 64-bit numbers come as text."""
    if not isinstance(value, dict):
        return None
    if "arrayValue" in value:
        held = _held(value["arrayValue"]) if depth <= _DEEPEST else []
        return [_plain_value(each, depth + 1) for each in held]
    if "kvlistValue" in value:
        return _pairs(_held(value["kvlistValue"]), depth + 1)
    if "intValue" in value:
        return _whole(value["intValue"])
    kinds = ("stringValue", "boolValue", "doubleValue", "bytesValue")
    return next((value[kind] for kind in kinds if kind in value), None)


def _held(value: Any) -> list[Any]:
    held = value.get("values") if isinstance(value, dict) else None
    return held if isinstance(held, list) else []


def _whole(value: Any) -> Any:
    is_number = isinstance(value, str) and len(value) <= 20 and value.lstrip("-").isdecimal()
    return int(value) if is_number else value
