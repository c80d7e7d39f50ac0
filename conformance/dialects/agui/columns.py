"""What the deltas of one run differ in; None for a payload that is no delta."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping, string

_DELTAS: Final = frozenset(
    {
        "TEXT_MESSAGE_CONTENT",
        "REASONING_MESSAGE_CONTENT",
        "THINKING_TEXT_MESSAGE_CONTENT",
        "TOOL_CALL_ARGS",
    }
)
_PLAIN: Final = DeltaColumns(("delta",), "delta")
_TIMED: Final = DeltaColumns(("delta", "timestamp"), "delta")


def delta_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    if string(fields.get("type")) not in _DELTAS or not string(fields.get("delta")):
        return None
    if "rawEvent" in fields:
        return None
    return _TIMED if type(fields.get("timestamp")) is int else _PLAIN
