"""Values of a row that name places of the payload that is edited."""

from __future__ import annotations

from typing import Any

from conformance.core.json_values import Path, value_at


def path_of(spelled: Any) -> Path:
    """Keys and indices with dots between them, or a list of them."""
    parts = spelled.split(".") if isinstance(spelled, str) else spelled
    return tuple(int(each) if str(each).removeprefix("-").isdigit() else each for each in parts)


def filled(template: Any, payload: Any) -> Any:
    """A value in which every `$path` is replaced by what the payload has there."""
    if isinstance(template, str) and template.startswith("$"):
        return value_at(payload, *path_of(template[1:]))
    if isinstance(template, dict):
        return {key: filled(each, payload) for key, each in template.items()}
    return [filled(each, payload) for each in template] if isinstance(template, list) else template
