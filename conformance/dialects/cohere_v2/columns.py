"""What the deltas of one run differ in; None for a payload that is no delta."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import value_at
from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping, string

_CONTENT: Final = "delta.message.content"
_PATHS: Final = {
    ("content-delta", "thinking"): f"{_CONTENT}.thinking",
    ("content-delta", "text"): f"{_CONTENT}.text",
    ("tool-plan-delta", "tool_plan"): "delta.message.tool_plan",
    ("tool-call-delta", "arguments"): "delta.message.tool_calls.function.arguments",
}
_COLUMNS: Final = {key: DeltaColumns((path,), path) for key, path in _PATHS.items()}
_HOLDERS: Final = {
    "content-delta": ("content",),
    "tool-plan-delta": (),
    "tool-call-delta": ("tool_calls", "function"),
}


def delta_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    kind = string(mapping(payload).get("type"))
    if kind not in _HOLDERS:
        return None
    held = mapping(value_at(payload, "delta", "message", *_HOLDERS[kind]))
    found = [key for at, key in _PATHS if at == kind and string(held.get(key))]
    return _COLUMNS[kind, found[0]] if len(found) == 1 else None
