"""What the deltas of one run differ in; None for a payload that is no delta."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import DeltaColumns, Reading
from conformance.dialects.json_edge import mapping, string

_DELTAS: Final = frozenset({"thinking_delta", "message_delta"})
_COLUMNS: Final = DeltaColumns(("params.delta",), "params.delta", dict.fromkeys(_DELTAS, "params"))


def delta_columns(payload: Any, _reading: Reading) -> DeltaColumns | None:
    fields = mapping(payload)
    params = mapping(fields.get("params"))
    is_delta = fields.get("method") == "agent/event" and string(params.get("type")) in _DELTAS
    return _COLUMNS if is_delta and string(params.get("delta")) else None
