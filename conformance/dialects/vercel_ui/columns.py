"""What the deltas of one run differ in; None for a payload that is no delta."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping, string

_TEXTS: Final = {
    "reasoning-delta": "delta",
    "text-delta": "delta",
    "tool-input-delta": "inputTextDelta",
}
_COLUMNS: Final = {name: DeltaColumns((name,), name) for name in _TEXTS.values()}


def delta_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    name = _TEXTS.get(string(fields.get("type")))
    if name is None or not string(fields.get(name)) or "providerMetadata" in fields:
        return None
    return _COLUMNS[name]
